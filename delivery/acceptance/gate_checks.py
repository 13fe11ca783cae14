"""The gate check of acceptance: a signed acceptance document that covers the model."""

from collections.abc import Iterable

from django.urls import reverse
from django.utils.translation import gettext as _

from delivery.acceptance.models import Review
from delivery.reports.models import Document
from engagements.gates import CheckResult, register_check
from engagements.models import StageRecord
from engagements.stages import Stage


@register_check("document")
def acceptance_is_signed(record: StageRecord) -> Iterable[CheckResult]:
    """The stage of acceptance ends with a signed document whose decision is not a rejection."""
    if record.stage != Stage.ACCEPT:
        return
    newest = record.engagement.documents.filter(kind=Document.Kind.ACCEPTANCE).in_force(
        ).select_related("review").first()
    is_met, sentence = _found(newest, record.model.code)
    url = (reverse("reports:document", args=[newest.pk]) if newest
           else reverse("reports:engagement", args=[record.engagement.code]))
    remedy = "" if is_met else _("Issue an acceptance document that covers this model; the "
                                 "customer decides and signs on its page.")
    yield CheckResult("document", _("Signed acceptance document"), is_met, sentence, url, remedy)


def _found(document: Document | None, code: str) -> tuple[bool, str]:
    if document is None:
        return False, _("No acceptance document is issued yet.")
    if code not in {model["code"] for model in document.snapshot.get("models", [])}:
        return False, _("%(document)s does not cover this model.") % {"document": document}
    review = getattr(document, "review", None)
    is_deemed = review is not None and review.decision == Review.Decision.DEEMED
    if document.state != Document.State.SIGNED and not is_deemed:
        return False, _("%(document)s is not signed by the customer yet.") % {
            "document": document}
    if _rejects(review, code):
        return False, _("%(document)s was rejected.") % {"document": document}
    return True, _("%(document)s: %(decision)s.") % {
        "document": document, "decision": review.get_decision_display()}


def _rejects(review: Review, code: str) -> bool:
    rejected = Review.Decision.REJECTED
    return review.decision == rejected or review.model_decisions.filter(
        model__code=code, decision=rejected).exists()
