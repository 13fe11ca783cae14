"""What a message may say of an object, and where it leads: codes and numbers only (DOMAIN 13)."""

from dataclasses import dataclass

from django.apps import apps
from django.db.models import Model
from django.urls import reverse


@dataclass(frozen=True)
class Subject:
    """The object's code, its stage, the path of its page, and a person it concerns."""

    code: str
    path: str
    stage: str = ""
    person: Model | None = None


def subject_of(target_type: str, target_id: str, action: str = "", row: Model | None = None,
               ) -> Subject | None:
    """The subject of an audited row; None for a type without notices, or a missing row.

    Args:
        row: the audited row where it is at hand; else it is read.
    """
    build = BUILDERS.get(target_type)
    if build and row is None:
        row = apps.get_model(target_type).objects.filter(pk=target_id).first()
    return build(row, action) if build and row else None


def _job(job, _action) -> Subject:
    return Subject(str(job), reverse("workers:job", args=[job.pk]), job.stage, job.created_by)


def _engagement(engagement, _action) -> Subject:
    return Subject(str(engagement), reverse("engagements:engagement", args=[engagement.code]))


def _stage(record, _action) -> Subject:
    path = reverse("engagements:stage",
                   args=[record.engagement.code, record.model.code, record.stage])
    return Subject(record.model.code, path, record.stage)


def _waiver(waiver, action) -> Subject:
    return _stage(waiver.record, action)


def _blocker_waiver(waiver, _action) -> Subject:
    return Subject(str(waiver), reverse("acceptance:blocker_waivers",
                                        args=[waiver.engagement.code]))


def _verdict(verdict, _action) -> Subject:
    criterion = verdict.criterion
    return Subject(str(criterion), reverse("assessments:criterion", args=[criterion.pk]),
                   criterion.stage)


def _verdict_waiver(waiver, _action) -> Subject:
    criterion = waiver.criterion
    return Subject(str(criterion), reverse("assessments:criterion", args=[criterion.pk]),
                   criterion.stage)


def _quote(quote, _action) -> Subject:
    return Subject(str(quote), reverse("quotes:quote", args=[quote.pk]), person=quote.created_by)


def _document(document, action) -> Subject:
    is_reviewed = action.startswith("review.") or action == "document.sign"
    route = "acceptance:review" if is_reviewed else "reports:document"
    code = str(document) if document.number else f"{document.kind}-{document.engagement.code}"
    return Subject(code, reverse(route, args=[document.pk]),
                   person=document.issued_by or document.created_by)


def _signer(signer, _action) -> Subject:
    document = signer.review.document
    return Subject(str(document), reverse("acceptance:signing", args=[document.pk]),
                   person=signer.user)


def _claim(claim, _action) -> Subject:
    return Subject(str(claim), reverse("acceptance:warranty", args=[claim.engagement.code]),
                   person=claim.raised_by)


def _issue(issue, _action) -> Subject:
    return Subject(f"I-{issue.engagement.code}-{issue.number:03}",
                   reverse("acceptance:warranty", args=[issue.engagement.code]),
                   person=issue.owner)


def _review(review, _action) -> Subject:
    """Of a decision that somebody else replaced: who had made it hears of it."""
    before = _document(review.document, "review.decide")
    return Subject(before.code, before.path, person=review.replaced_decider)


def _baseline(baseline, _action) -> Subject:
    """It has no page of its own."""
    code = baseline.engagement.code
    return Subject(f"{code} · {baseline}", reverse("planning:plan", args=[code]))


def _change(change, _action) -> Subject:
    return Subject(change.code, reverse("planning:change", args=[change.pk]),
                   person=change.created_by)


def _proposal(proposal, _action) -> Subject:
    return Subject(proposal.code, reverse("planning:proposal", args=[proposal.pk]),
                   person=proposal.created_by)


def _timesheet(sheet, _action) -> Subject:
    return Subject(sheet.file_name, reverse("planning:timesheet", args=[sheet.pk]),
                   person=sheet.confirmed_by)


def _weekly(report, _action) -> Subject:
    return Subject(report.file_name, reverse("planning:weekly", args=[report.pk]))


def _todo(todo, _action) -> Subject:
    """Whose it is hears of it; what is to be done stands on the page."""
    page = "planning:cooperation" if todo.owner.is_reviewer else "planning:control"
    return Subject(f"T-{todo.pk}", reverse(page, args=[todo.engagement.code]), person=todo.owner)


def _minutes(meeting, _action) -> Subject:
    return Subject(f"MM-{meeting.engagement.code}-{meeting.number:03}",
                   reverse("planning:meeting", args=[meeting.pk]), person=meeting.recorded_by)


def _channel(channel, _action) -> Subject:
    """Its kind and number; its name may be anything."""
    return Subject(f"{channel.kind}-{channel.pk}", reverse("notices:channel", args=[channel.pk]))


def _damaged_file(damage, _action) -> Subject:
    return Subject(damage.name, reverse("operation:files"))


def _log(chain, _action) -> Subject:
    """Number and hash of its newest entry: whoever keeps them knows a log that ends before it."""
    return Subject(str(chain), reverse("portal:audit"))


def _reservation(reservation, _action) -> Subject:
    return Subject(str(reservation), reverse("workers:calendar"))


BUILDERS = {
    "workers.nodereservation": _reservation,
    "engagements.auditchain": _log, "engagements.engagement": _engagement,
    "notices.channel": _channel,
    "operation.damagedfile": _damaged_file,
    "planning.changerequest": _change, "planning.changeproposal": _proposal,
    "planning.timesheet": _timesheet,
    "planning.planbaseline": _baseline, "planning.weeklyreport": _weekly,
    "planning.todo": _todo, "planning.meeting": _minutes,
    "workers.job": _job, "engagements.stagerecord": _stage, "assessments.verdict": _verdict,
    "quotes.quote": _quote, "reports.document": _document, "engagements.stagewaiver": _waiver,
    "planning.projectissue": _issue, "acceptance.review": _review,
    "acceptance.signer": _signer, "acceptance.warrantyclaim": _claim,
    "assessments.waiver": _verdict_waiver, "acceptance.blockerwaiver": _blocker_waiver,
}
