"""What was let through or left out, so that nobody reads over it: waivers, stages, models."""

from django.utils import timezone

from assessments.models import Waiver
from delivery.documents.bilingual import both, instant, named, pair
from delivery.planning.models import ProjectIssue
from engagements.models import Engagement, StageRecord, StageWaiver
from engagements.stages import EXTRA, OUT_OF_SCOPE, StageMove, StageState


def departures(engagement: Engagement) -> dict:
    """Waivers in force, stages out of scope and dropped models, each with its reason."""
    return {"stage_waivers": _stage_waivers(engagement), "waivers": _waivers(engagement),
            "blocker_waivers": [
                blocker_waiver(row) for row in engagement.blocker_waivers.in_force(
                    engagement).select_related("signed_by").order_by("pk")],
            "skipped": _skipped(engagement), "dropped": _dropped(engagement)}


def blocker_waiver(waiver) -> dict:
    """What a document says of a `delivery.acceptance.models.BlockerWaiver`."""
    return {"number": f"{waiver}", "reason": waiver.reason, "signed_by": named(waiver.signed_by),
            "signed_at": instant(waiver.signed_at), "hash": waiver.content_hash,
            "blockers": [check["sentence"] for check in waiver.checks]}


def issue_code(issue: ProjectIssue) -> str:
    return f"issue-{issue.pk}"


def deliverable_code(title: dict[str, str]) -> str:
    return f"deliverable-{title['zh-hans']}"


def _stage_waivers(engagement: Engagement) -> list[dict]:
    found = StageWaiver.objects.open().exclude(signed_at=None).filter(
        record__model__engagement=engagement).select_related(
        "record__model", "drafted_by", "signed_by").order_by("pk")
    return [{"number": f"W-{waiver.pk}", "model": waiver.record.model.code,
             "stage": both(waiver.record.get_stage_display), "reason": waiver.reason,
             "checks": [check["label"] for check in waiver.checks],
             "drafted_by": named(waiver.drafted_by), "signed_by": named(waiver.signed_by),
             "signed_at": instant(waiver.signed_at)} for waiver in found]


def _waivers(engagement: Engagement) -> list[dict]:
    """Verdicts in spite of which a stage may pass; the verdict itself stays."""
    found = Waiver.objects.in_force(timezone.localdate()).filter(
        criterion__criteria_set__engagement=engagement).select_related(
        "criterion__model", "criterion__definition", "signed_by").order_by("pk")
    return [{"model": waiver.criterion.model.code,
             "name": pair(waiver.criterion.definition.name, waiver.criterion.definition.name_en),
             "reason": waiver.reason, "scope": waiver.scope,
             "expires_on": waiver.expires_on.isoformat(), "signed_by": named(waiver.signed_by)}
            for waiver in found]


def _skipped(engagement: Engagement) -> list[dict]:
    """Stages of models that are not dropped: by the model's scope, or one by one; what never came
    into scope of itself is no departure."""
    records = StageRecord.objects.filter(
        model__engagement=engagement, model__dropped_at=None, state=StageState.SKIPPED,
        ).exclude(stage__in=EXTRA, transitions=None).select_related(
        "model").prefetch_related("transitions__actor")
    return [{"model": record.model.code, "stage": both(record.get_stage_display),
             **_why(record)} for record in records]


def _why(record: StageRecord) -> dict:
    """Reason, person and time of the newest skip; what the scope never held has its scope."""
    move = next((row for row in record.transitions.all() if row.move == StageMove.SKIP), None)
    if move:
        return {"reason": pair(move.comment, ""), "by": named(move.actor), "at": instant(move.at)}
    is_of_scope = record.stage in OUT_OF_SCOPE[record.model.scope]
    return {"reason": both(record.model.get_scope_display) if is_of_scope else pair("", ""),
            "by": "", "at": ""}


def _dropped(engagement: Engagement) -> list[dict]:
    return [{"model": model.code, "name": pair(model.name, model.name_en),
             "at": instant(model.dropped_at), "reason": model.drop_reason}
            for model in engagement.models.exclude(dropped_at=None)]
