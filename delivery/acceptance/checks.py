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
    newest = record.engagement.documents.filter(kind=Document.Kind.ACCEPTANCE).exclude(
        state__in=[Document.State.DRAFT, Document.State.SUPERSEDED]).select_related(
        "review").first()
    is_met, sentence = _found(newest, record.model.code)
    url = (reverse("reports:document", args=[newest.pk]) if newest
           else reverse("reports:engagement", args=[record.engagement.code]))
    yield CheckResult("document", _("Signed acceptance document"), is_met, sentence, url)


def _found(document: Document | None, code: str) -> tuple[bool, str]:
    if document is None:
        return False, _("No acceptance document is issued yet.")
    if code not in {model["code"] for model in document.snapshot.get("models", [])}:
        return False, _("%(document)s does not cover this model.") % {"document": document}
    if document.state != Document.State.SIGNED:
        return False, _("%(document)s is not signed by the customer yet.") % {
            "document": document}
    if document.review.decision == Review.Decision.REJECTED:
        return False, _("%(document)s was rejected.") % {"document": document}
    return True, _("%(document)s: %(decision)s.") % {
        "document": document, "decision": document.review.get_decision_display()}
