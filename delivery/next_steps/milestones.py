"""What an engagement lacks to go on: models, team, survey, criteria, its acceptance document."""

from collections.abc import Iterable

from django.db.models import Exists, OuterRef
from django.utils.translation import gettext_lazy

from delivery.invoicing.ledger import LedgerState, in_ledger_state
from delivery.next_steps.items import OPEN
from delivery.next_steps.rules import NextStep, Place, Scope, by_move, states
from delivery.planning.models import Milestone
from delivery.reports.models import Document
from engagements.access import Can, allowed
from engagements.addresses import address
from engagements.closing import TRANSITIONS, EngagementMove, ready_to_close
from engagements.models import Engagement, MigratedModel, Role, StageRecord, User
from engagements.stages import DONE, FROM_ACCEPTANCE

ACCEPTANCE = ("PA", "FA")  # kinds of document that a customer accepts


def _manages(user: User) -> bool:
    return allowed(user, Can.MANAGE)


def _prices(user: User) -> bool:
    return allowed(user, Can.PRICE)


def _sells(user: User) -> bool:
    """Managers may it too, but whose work it is gets it into the inbox."""
    return not allowed(user, Can.MANAGE)


def _surveys(user: User) -> bool:
    return allowed(user, Can.WORK) or allowed(user, Can.REVIEW)


def _issues(user: User) -> bool:
    return allowed(user, Can.ISSUE)


def _at(route: str):
    return lambda row: Place(title=row.localized_name, engagement=row.code,
                             url=address(route, row.code), since=row.created_at)


def _without_reviewer(scope: Scope) -> Iterable[Engagement]:
    return scope.active().exclude(memberships__role=Role.REVIEWER)


def _without_survey(scope: Scope) -> Iterable[Engagement]:
    return scope.active().filter(survey=None, models__isnull=False).distinct()


def _ready_to_accept(scope: Scope) -> Iterable[Engagement]:
    """All stages of all models ahead of the acceptance are done; no such document was drafted."""
    current = MigratedModel.objects.filter(engagement=OuterRef("pk"), dropped_at=None)
    not_done = StageRecord.objects.filter(
        model__engagement=OuterRef("pk"), model__dropped_at=None).exclude(
        stage__in=FROM_ACCEPTANCE).exclude(state__in=DONE)
    drafted = Document.objects.filter(engagement=OuterRef("pk"), kind__in=ACCEPTANCE)
    return scope.active().filter(Exists(current), ~Exists(not_done), ~Exists(drafted))


def _without_review(scope: Scope) -> Iterable[Document]:
    """Issued for acceptance, and nobody has put it to the customer."""
    return scope.of(Document.objects).without_facts().filter(
        kind__in=ACCEPTANCE, state=Document.State.ISSUED, review=None).select_related("engagement")


def _document_place(row: Document) -> Place:
    return Place(title=str(row), engagement=row.engagement.code, since=row.issued_at,
                 url=address("reports:document", row.pk))


def _ready_to_close(scope: Scope) -> Iterable[Engagement]:
    accepted = (Engagement.objects.filter(pk=scope.engagement.pk) if scope.engagement
                else Engagement.objects.visible_to(scope.user)).filter(
        state=Engagement.State.ACCEPTED)
    return Engagement.objects.filter(pk__in=ready_to_close(accepted.only("pk")))


def _to_invoice(scope: Scope) -> Iterable[Milestone]:
    """Milestones whose paper exists and of which nothing is invoiced."""
    return in_ledger_state(scope.of(Milestone.objects, "plan__engagement").order_by("pk"),
                           LedgerState.DUE).select_related("plan__engagement")


def _milestone_place(row: Milestone) -> Place:
    code = row.plan.engagement.code
    return Place(title=row.localized_name, engagement=code,
                 url=f"{address('invoicing:ledger')}?engagement={code}")


RULES = (
    NextStep(code="models_missing", label=gettext_lazy("Models to add"), rank=OPEN, asks=None,
             may=_manages, rows=lambda scope: scope.active().filter(models=None),
             place=_at("engagements:model_new")),
    NextStep(code="reviewer_missing", label=gettext_lazy("Customer's reviewer to add to the team"),
             rank=OPEN, asks=None, may=_manages, rows=_without_reviewer,
             place=_at("engagements:team")),
    NextStep(code="survey_missing", label=gettext_lazy("Survey to begin"), rank=OPEN, asks=None,
             may=_surveys, rows=_without_survey, place=_at("surveys:overview")),
    NextStep(code="acceptance_due", label=gettext_lazy("Acceptance document to draft"), rank=OPEN,
             asks=None, may=_issues, rows=_ready_to_accept, place=_at("reports:engagement")),
    by_move("closing", TRANSITIONS, EngagementMove.CLOSE, code="closing",
            label=gettext_lazy("Engagement to close"), rank=OPEN, rows=_ready_to_close,
            place=_at("engagements:ending"), covers=states("closing", "accepted")),
    NextStep(code="milestone_due", label=gettext_lazy("Milestone to invoice"), rank=OPEN,
             may=_prices, asks=_sells, rows=_to_invoice, place=_milestone_place),
    NextStep(code="review_missing", label=gettext_lazy("Review by the customer to open"),
             asks=None, may=_issues, rows=_without_review, place=_document_place),
)
