"""Stages, waivers, jobs and nodes that wait for a person."""

from collections import defaultdict
from collections.abc import Iterator

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assessments.models import Waiver
from delivery.portal.inbox.items import BROKEN, OPEN, OTHERS_WAIT, InboxContext, InboxItem
from engagements.access import Can, allowed
from engagements.models import Engagement, StageRecord, StageTransition, StageWaiver
from engagements.stages import StageMove, StageState
from workers.kinds.base import title_of
from workers.models import Job, JobState, Node

BAD_STATES = (JobState.FAILED, JobState.LOST, JobState.TIMED_OUT, JobState.UNKNOWN)
FEW = 5  # more stages of one kind in an engagement are one line that leads to the board


def stages(context: InboxContext) -> Iterator[InboxItem]:
    """Submitted stages for who may pass them; sent back and open ones for who works on them."""
    together: dict[tuple[str, str], list[StageRecord]] = defaultdict(list)
    for record in _records(context):
        together[record.model.engagement.code, record.state].append(record)
    for (code, state), records in together.items():
        rank = OPEN if state == StageState.IN_PROGRESS else OTHERS_WAIT
        label = {StageState.SUBMITTED: _("Stage to decide on"),
                 StageState.SENT_BACK: _("Stage sent back: to be mended"),
                 StageState.IN_PROGRESS: _("Stage to finish")}[state]
        for title, url, since, count in (
                [_many(code, state, records)] if len(records) > FEW
                else [_one(code, record) for record in records]):
            yield context.item(rank, f"stage_{state}", label, title, code, url, since=since,
                               count=count)


def _records(context: InboxContext):
    records = StageRecord.objects.visible_to(context.user).filter(
        model__engagement__state=Engagement.State.ACTIVE).select_related("model__engagement")
    if allowed(context.user, Can.MANAGE):
        own = StageTransition.objects.filter(actor=context.user, move=StageMove.SUBMIT)
        return records.filter(state=StageState.SUBMITTED).exclude(pk__in=own.values("record"))
    if allowed(context.user, Can.WORK):
        return records.filter(state__in=[StageState.SENT_BACK, StageState.IN_PROGRESS])
    return records.none()


def _one(code: str, record: StageRecord) -> tuple:
    url = reverse("engagements:stage", args=[code, record.model.code, record.stage])
    return f"{record.model} · {record.get_stage_display()}", url, _since(record), 1


def _many(code: str, state: str, records: list[StageRecord]) -> tuple:
    title = ngettext("%(n)d model", "%(n)d models", len(records)) % {"n": len(records)}
    url = f"{reverse('planning:board')}?engagement={code}&state={state}"
    return title, url, min(filter(None, map(_since, records)), default=None), len(records)


def _since(record: StageRecord):
    return record.submitted_at or record.started_at


def waivers(context: InboxContext) -> Iterator[InboxItem]:
    """Waivers of stages that wait for a signature; never one's own."""
    if not (allowed(context.user, Can.REVIEW) or allowed(context.user, Can.MANAGE)):
        return
    waivers = StageWaiver.objects.visible_to(context.user).open().filter(signed_at=None)
    for waiver in waivers.exclude(drafted_by=context.user).select_related(
            "record__model__engagement"):
        code = waiver.record.model.engagement.code
        title, url, _day, _count = _one(code, waiver.record)
        yield context.item(OTHERS_WAIT, "waiver", _("Waiver to sign"), title, code, url,
                           since=waiver.drafted_at)


def criterion_waivers(context: InboxContext) -> Iterator[InboxItem]:
    """Drafted waivers of criteria, for managers who did not draft them."""
    if not allowed(context.user, Can.MANAGE):
        return
    drafts = Waiver.objects.visible_to(context.user).to_sign(timezone.localdate())
    for waiver in drafts.exclude(drafted_by=context.user).select_related(
            "criterion__definition", "criterion__model__engagement"):
        yield context.item(OTHERS_WAIT, "waiver", _("Waiver to sign"), str(waiver.criterion),
                           waiver.criterion.model.engagement.code,
                           reverse("assessments:criterion", args=[waiver.criterion_id]),
                           since=waiver.drafted_at)


def jobs(context: InboxContext) -> Iterator[InboxItem]:
    """The user's own jobs that ended badly and were not tried again."""
    jobs = Job.objects.whole().visible_to(context.user).filter(
        created_by=context.user, state__in=BAD_STATES, retries=None)
    for job in jobs.select_related("engagement"):
        yield context.item(
            BROKEN, "job", _("Job to look at"),
            f"#{job.pk} {title_of(job.kind)} · {job.get_state_display()}",
            job.engagement.code if job.engagement else "", reverse("workers:job", args=[job.pk]),
            since=job.finished_at or job.created_at)


def nodes(context: InboxContext) -> Iterator[InboxItem]:
    """Nodes that run nothing until an operator confirms a host key."""
    if not allowed(context.user, Can.OPERATE):
        return
    labels = {Node.State.PENDING: _("Host key to confirm"),
              Node.State.QUARANTINED: _("Host key changed: to be checked")}
    for node in Node.objects.filter(state__in=labels):
        rank = BROKEN if node.state == Node.State.QUARANTINED else OTHERS_WAIT
        yield context.item(rank, f"node_{node.state}", labels[node.state], node.name, "",
                           reverse("workers:node", args=[node.pk]))


SOURCES = (stages, waivers, criterion_waivers, jobs, nodes)
