"""Stages, waivers, jobs and nodes that wait for a person."""

from collections.abc import Iterable

from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Prefetch, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy

from assessments.models import Waiver
from delivery.acceptance.models import BlockerWaiver
from delivery.next_steps.items import BROKEN, OPEN, OTHERS_WAIT
from delivery.next_steps.rules import NextStep, Place, Scope, may_make, states
from engagements.access import Can, allowed
from engagements.addresses import address
from engagements.models import (
    Engagement,
    Membership,
    ModelProgress,
    Role,
    StageRecord,
    StageTransition,
    StageWaiver,
    User,
)
from engagements.stages import DONE, EXTRA, TRANSITIONS, StageMove, StageState
from workers.kinds.base import title_of
from workers.models import Job, JobState, Node


def _works(user: User) -> bool:
    return allowed(user, Can.WORK)


def _manages(user: User) -> bool:
    return allowed(user, Can.MANAGE)


def _no_manager(user: User) -> bool:
    return not _manages(user)


# Stages -----------------------------------------------------------------------------------

def _records(*found: str):
    def rows(scope: Scope):
        records = scope.of(StageRecord.objects, "model__engagement").filter(
            Q(model__engagement__state=Engagement.State.ACTIVE)
            | Q(model__engagement__state=Engagement.State.ACCEPTED, stage__in=EXTRA),
            model__dropped_at=None, state__in=found).select_related("model__engagement")
        return records.filter(pk__in=_longest_open(scope, found)) if scope.limit else records
    return rows


def _longest_open(scope: Scope, found: tuple[str, ...]) -> list[int]:
    """Stages that models stand in, from their summaries; more than are asked for, since the
    person may have submitted some of them."""
    rows = ModelProgress.objects.visible_to(scope.user).under_way().filter(state__in=found)
    return list(rows.order_by("open_since", "pk").values_list("record", flat=True)[
        :4 * scope.limit])


def _submitted(scope: Scope) -> Iterable[StageRecord]:
    """With who submitted them in `submissions`."""
    submissions = StageTransition.objects.standing().filter(move=StageMove.SUBMIT)
    return _records(StageState.SUBMITTED)(scope).prefetch_related(
        Prefetch("transitions", submissions, to_attr="submissions"))


def _did_not_submit(user: User, record: StageRecord) -> bool:
    return all(row.actor_id != user.pk for row in record.submissions)


def _to_begin(scope: Scope) -> Iterable[StageRecord]:
    """The first stage of each model that is neither begun nor waits for an earlier one."""
    earlier = StageRecord.objects.filter(
        model=OuterRef("model"), position__lt=OuterRef("position")).exclude(state__in=DONE)
    return _records(StageState.NOT_STARTED)(scope).filter(~Exists(earlier))


def _stage_place(record: StageRecord) -> Place:
    code = record.model.engagement.code
    return Place(title=f"{record.model} · {record.get_stage_display()}", engagement=code,
                 since=record.submitted_at or record.started_at,
                 url=address("engagements:stage", code, record.model.code, record.stage))


def _stage(state: str, move: str, label, **more) -> NextStep:
    return NextStep(code=f"stage_{state}", label=label, may=may_make(TRANSITIONS, move),
                    board=lambda code: (
                        f"{reverse('planning:board')}?engagement={code}&state={state}"),
                    place=_stage_place, order=("submitted_at", "started_at"),
                    shown=("stage", "submitted_at", "started_at", "model__code", "model__name",
                           "model__name_en", "model__engagement__code"),
                    covers=states("stage", state), **more)


STAGES = (
    _stage(StageState.SUBMITTED, StageMove.PASS, gettext_lazy("Stage to decide on"),
           is_for=_did_not_submit, rows=_submitted),
    _stage(StageState.SENT_BACK, StageMove.START, gettext_lazy("Stage sent back: to be reworked"),
           asks=_no_manager, rows=_records(StageState.SENT_BACK)),
    _stage(StageState.IN_PROGRESS, StageMove.SUBMIT, gettext_lazy("Stage to finish"), rank=OPEN,
           asks=_no_manager, rows=_records(StageState.IN_PROGRESS)),
    _stage(StageState.NOT_STARTED, StageMove.START, gettext_lazy("Stage to begin"), rank=OPEN,
           asks=None, rows=_to_begin),
)


# Waivers ------------------------------------------------------------------------------------

def _stage_waivers(scope: Scope) -> Iterable[StageWaiver]:
    return scope.of(StageWaiver.objects, "record__model__engagement").open().filter(
        signed_at=None).select_related("record__model__engagement")


def _waiver_place(waiver: StageWaiver) -> Place:
    place = _stage_place(waiver.record)
    return Place(title=place.title, engagement=place.engagement, url=place.url,
                 since=waiver.drafted_at)


def _criterion_waivers(scope: Scope) -> Iterable[Waiver]:
    return scope.of(Waiver.objects, "criterion__model__engagement").to_sign(
        timezone.localdate()).select_related("criterion__definition",
                                             "criterion__model__engagement")


def _criterion_place(waiver: Waiver) -> Place:
    return Place(title=str(waiver.criterion), since=waiver.drafted_at,
                 engagement=waiver.criterion.model.engagement.code,
                 url=address("assessments:criterion", waiver.criterion_id))


def _blocker_waivers(scope: Scope) -> Iterable[BlockerWaiver]:
    return scope.of(BlockerWaiver.objects).open().filter(signed_at=None).select_related(
        "engagement")


def _blocker_place(waiver: BlockerWaiver) -> Place:
    return Place(title=str(waiver), since=waiver.drafted_at, engagement=waiver.engagement.code,
                 url=address("acceptance:blocker_waivers", waiver.engagement.code))


def _did_not_draft(user: User, waiver) -> bool:
    return waiver.drafted_by_id != user.pk


_WAIVER = gettext_lazy("Waiver to sign")
WAIVERS = (
    NextStep(code="waiver", label=_WAIVER, is_for=_did_not_draft, rows=_stage_waivers,
             order=("drafted_at",),
             may=lambda user: allowed(user, Can.REVIEW) or _manages(user), place=_waiver_place),
    NextStep(code="waiver", label=_WAIVER, is_for=_did_not_draft, may=_manages,
             rows=_criterion_waivers, place=_criterion_place, order=("drafted_at",)),
    NextStep(code="waiver", label=_WAIVER, may=lambda user: allowed(user, Can.REVIEW),
             rows=_blocker_waivers, place=_blocker_place, order=("drafted_at",)),
)


# Jobs and nodes -------------------------------------------------------------------------------

def _jobs(scope: Scope) -> Iterable[Job]:
    """Jobs that ended badly and were not tried again; in a person's scope the person's own.

    In an engagement's scope `author_left` says whether who queued it can still go on with it.
    """
    found = scope.of(Job.objects.whole()).in_trouble().select_related("engagement")
    if scope.user:
        return found.filter(created_by=scope.user)
    return found.annotate(author_left=ExpressionWrapper(_author_left(), BooleanField()))


def _author_left() -> Q:
    """Who queued a job is inactive, of another role now, or no longer on the team."""
    running = [role for role in Role if allowed(User(role=role), Can.WORK)]
    everywhere = [role for role in running if User(role=role).sees_every_engagement]
    membership = Membership.objects.filter(
        engagement=OuterRef("engagement"), user=OuterRef("created_by"))
    return Q(created_by__is_active=False) | ~Q(created_by__role__in=running) | (
        ~Q(created_by__role__in=everywhere) & ~Exists(membership))


def _runs_jobs(user: User) -> bool:
    return _works(user) or allowed(user, Can.OPERATE)


def _is_for_job(user: User, job: Job) -> bool:
    """The author's; where the author left, everybody's on the team who may run it again."""
    return job.created_by_id == user.pk or (job.author_left and _works(user))


def _job_place(job: Job) -> Place:
    return Place(title=f"#{job.pk} {title_of(job.kind)} · {job.get_state_display()}",
                 engagement=job.engagement.code if job.engagement else "",
                 url=address("workers:job", job.pk), since=job.finished_at or job.created_at)


def _node(state: str, label, rank: int) -> NextStep:
    return NextStep(code=f"node_{state}", label=label, rank=rank,
                    rows=lambda scope: Node.objects.none() if scope.engagement
                    else Node.objects.filter(state=state),  # nodes belong to no engagement
                    may=lambda user: allowed(user, Can.OPERATE),
                    place=lambda node: Place(title=node.name, engagement="",
                                             url=address("workers:node", node.pk)))


OTHERS = (
    NextStep(code="job", label=gettext_lazy("Job to check"), rank=BROKEN, rows=_jobs,
             may=_runs_jobs, is_for=_is_for_job, place=_job_place, order=("finished_at",),
             shown=("kind", "state", "finished_at", "created_at", "created_by",
                    "engagement__code"),
             covers=states("job", JobState.FAILED, JobState.TIMED_OUT, JobState.LOST,
                           JobState.UNKNOWN)),
    _node(Node.State.PENDING, gettext_lazy("Host key to confirm"), OTHERS_WAIT),
    _node(Node.State.QUARANTINED, gettext_lazy("Host key changed: to be checked"), BROKEN),
)
RULES = (*STAGES, *WAIVERS, *OTHERS)
