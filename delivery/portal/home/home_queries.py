"""Jobs and engagements on the front page, and what the user waits for."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Count, QuerySet, Sum
from django.utils import timezone
from django.utils.translation import get_language

from delivery.acceptance.models import Condition, Review
from delivery.acceptance.models.follow_up import reported_issues
from delivery.acceptance.review.deliverables import deliverables_of
from delivery.acceptance.review.progress import ReviewStep, review_steps
from delivery.acceptance.services import trial_of
from delivery.planning.models import ChangeRequest
from delivery.quotes.models import Quote
from delivery.reports.models import Document
from engagements.access import Can, allowed
from engagements.addresses import address
from engagements.models import Engagement, ModelProgress, User
from engagements.stages import StageState
from workers import queries
from workers.models import Job, Node
from workers.models.job import FINAL_STATES
from workers.nodes.conditions import LEVELS

SHOWN = 8
LINE = ("kind", "state", "message", "message_values", "progress_done", "progress_total",
        "engagement__code", "model__code")  # what a job's line shows


def troubled_jobs(user: User) -> QuerySet:
    """Jobs of others that ended badly or cannot be reached, newest first; one's own wait above."""
    if not allowed(user, Can.VIEW_INTERNAL):
        return Job.objects.none()
    return Job.objects.whole().visible_to(user).in_trouble().exclude(
        created_by=user).only(*LINE).select_related("engagement", "model")


def running_jobs(user: User) -> QuerySet:
    """Jobs on their way."""
    if not allowed(user, Can.VIEW_INTERNAL):
        return Job.objects.none()
    return Job.objects.whole().visible_to(user).in_flight().only(*LINE).select_related(
        "engagement", "model")


def finished_jobs(user: User, now: datetime | None = None) -> QuerySet:
    """Jobs that ended since the beginning of yesterday, newest first; for who works on them."""
    if not allowed(user, Can.WORK):
        return Job.objects.none()
    midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    return Job.objects.whole().visible_to(user).filter(
        state__in=FINAL_STATES, finished_at__gte=midnight - timedelta(days=1)).order_by(
        "-finished_at").only(*LINE).select_related("engagement", "model")


def open_quotes(user: User, today: date) -> QuerySet:
    """For sales: quotes that the customer has not answered, the first to expire first."""
    if not allowed(user, Can.PRICE) or allowed(user, Can.MANAGE):
        return Quote.objects.none()
    return Quote.objects.visible_to(user).in_state(Quote.State.ISSUED, today).select_related(
        "engagement").without_facts().order_by("valid_until", "pk")[:SHOWN]


def fleet(user: User, now: datetime) -> dict:
    """For who operates nodes: what all cards do, and the nodes that something is the matter with,
    worst first."""
    if not allowed(user, Can.OPERATE):
        return {}
    rows = queries.fleet_of(Node.objects.visible_to(user).without_secrets(), user, now)
    return {"fleet": queries.fleet_summary(rows) if rows else {},
            "fleet_rows": [row for row in rows if row.condition.rank < LEVELS.index("ok")][:SHOWN]}


def my_engagements(user: User, most: int) -> list[Engagement]:
    """The newest visible engagements, as `with_progress` shows them; their models' summaries are
    read once."""
    newest = Engagement.objects.visible_to(user).order_by("-created_at", "code")
    found = list(Engagement.objects.filter(pk__in=newest.values("pk")[:most]).select_related(
        "customer").order_by("-created_at", "code"))
    sums = {row["engagement"]: row for row in ModelProgress.objects.filter(
        engagement__in=found, is_dropped=False).order_by().values("engagement").annotate(
        count=Count("pk"), stages=Sum("in_scope"), done=Sum("passed"))}
    for engagement in found:
        row = sums.get(engagement.pk, {"count": 0, "stages": 0, "done": 0})
        engagement.model_count, engagement.stages_passed = row["count"], row["done"]
        engagement.stages_in_scope = row["stages"]
    return found


@dataclass(frozen=True)
class ReviewerProject:
    """What a customer's person has to do in one engagement, and what the firm owes."""

    engagement: Engagement
    reviews: list[tuple[Review, list[ReviewStep], ReviewStep | None]]  # the last: what comes next
    rejected: list[Review]
    trial: Review | None
    open_conditions: int
    open_issues: int
    open_claims: int


def reviewer_projects(user: User) -> list[ReviewerProject]:
    """Of a reviewer the engagements in which something is open; those with a review first."""
    if not user.is_reviewer:
        return []
    found = [_reviewer_project(row, user) for row in Engagement.objects.visible_to(
        user).order_by("-created_at", "code")[:SHOWN]]
    return sorted((row for row in found if row.reviews or row.rejected or row.trial
                   or row.open_conditions or row.open_claims), key=lambda row: not row.reviews)


def _reviewer_project(engagement: Engagement, user: User) -> ReviewerProject:
    reviews = Review.objects.filter(document__engagement=engagement).select_related(
        "document__engagement").order_by("-pk")
    trial, conditions = trial_of(engagement), Condition.objects.filter(
        review__document__engagement=engagement, review__document__state__in=Document.IN_FORCE,
        closed_at=None).exclude(review__decision="")
    return ReviewerProject(
        engagement, [_with_steps(row) for row in reviews.filter(
            document__state=Document.State.ISSUED).exclude(decision=Review.Decision.DEEMED)],
        list(reviews.filter(decision=Review.Decision.REJECTED, document__successors=None,
                            document__state=Document.State.SIGNED)),
        trial, conditions.count(),
        reported_issues().filter(engagement=engagement, closed_on=None).count(),
        engagement.warranty_claims.filter(closed_at=None).count())


def _with_steps(review: Review):
    steps = review_steps(review, deliverables_of(review, get_language()),
                         review.open_comments().count())
    return review, steps, next((step for step in steps if not step.is_done), None)


@dataclass(frozen=True)
class Handed:
    """What the user handed on and somebody else has to decide on."""

    title: str
    state: str
    url: str
    since: datetime | None


def handed_on(user: User) -> list[Handed]:
    """Stages, quotes, documents and changes that wait for others since the user submitted them;
    the longest waiting first. One query for each."""
    found = [*_stages(user), *_quotes(user), *_documents(user), *_changes(user)]
    return sorted(found, key=lambda row: (row.since is None, row.since))[:SHOWN]


def _stages(user: User):
    """Of models under way whose open stage the user moved last, by submitting it."""
    longest = ModelProgress.objects.visible_to(user).under_way().filter(
        moved_by=user, state=StageState.SUBMITTED).order_by("open_since")
    for row in ModelProgress.objects.filter(pk__in=longest.values("pk")[:SHOWN]).select_related(
            "engagement", "model"):
        code = row.engagement.code
        yield Handed(f"{code} · {row.model} · {row.get_stage_display()}", row.get_state_display(),
                     address("engagements:stage", code, row.model.code, row.stage),
                     row.open_since)


def _quotes(user: User):
    waiting = (Quote.State.IN_REVIEW, Quote.State.REVIEWED, Quote.State.ISSUED)
    for row in Quote.objects.visible_to(user).filter(created_by=user, state__in=waiting).defer(
            "snapshot").order_by("created_at")[:SHOWN]:
        yield Handed(str(row), row.get_current_state_display(),
                     address("quotes:quote", row.pk), row.issued_at or row.created_at)


def _documents(user: User):
    waiting = (Document.State.IN_REVIEW, Document.State.REVIEWED)
    for row in Document.objects.visible_to(user).without_facts().filter(
            submitted_by=user, state__in=waiting).select_related("engagement").order_by(
            "submitted_at")[:SHOWN]:
        yield Handed(str(row), row.get_state_display(), address("reports:document", row.pk),
                     row.submitted_at)


def _changes(user: User):
    for row in ChangeRequest.objects.visible_to(user).filter(
            created_by=user, state=ChangeRequest.State.SUBMITTED).select_related(
            "engagement").order_by("submitted_at")[:SHOWN]:
        yield Handed(str(row), row.get_state_display(), address("planning:change", row.pk),
                     row.submitted_at)
