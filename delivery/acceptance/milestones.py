"""Certificates as triggers of a plan's milestones: signed, passed, and no condition open that holds
up payment."""

from functools import partial

from django.db.models import Exists, OuterRef, Q, QuerySet

from delivery.acceptance.models import Condition, Review
from delivery.planning.plan.trigger_documents import Trigger, register_trigger
from delivery.reports.milestones import CERTIFICATES, trigger_of
from delivery.reports.models import Document


def releasing_payment(kind: str) -> QuerySet[Review]:
    """Passing decisions on certificates of a kind: signed, or deemed, and nothing held up."""
    blocking = Condition.objects.blocking().filter(review=OuterRef("pk"))
    concluded = Q(decision=Review.Decision.DEEMED) | Q(document__state=Document.State.SIGNED)
    return Review.objects.filter(
        concluded, ~Exists(blocking), document__kind=kind, decision__in=Review.PASSING,
        document__state__in=Document.IN_FORCE).select_related("document").defer(
        "document__snapshot").order_by("document_id")


for _kind, _code in CERTIFICATES.items():
    register_trigger(Trigger(_code, partial(releasing_payment, _kind), "document__engagement",
                             lambda review: trigger_of(review.document)))
