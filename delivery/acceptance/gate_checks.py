"""The gate check of acceptance: a signed acceptance document that covers the model."""

from collections.abc import Iterable

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from delivery.acceptance.certificates import (
    Standing,
    certificate_in_force,
    open_conditions,
    standing_of,
)
from delivery.reports.models import Document
from engagements.gates import CheckResult, register_check
from engagements.models import StageRecord
from engagements.stages import Stage


@register_check("document", Stage.ACCEPT)
def acceptance_is_signed(record: StageRecord) -> Iterable[CheckResult]:
    """The stage of acceptance ends with a signed document that accepts the model, its conditions
    closed."""
    newest = certificate_in_force(record.engagement)
    standing = standing_of(newest, record.model.code)
    url = (reverse("reports:document", args=[newest.pk]) if newest
           else reverse("reports:engagement", args=[record.engagement.code]))
    yield CheckResult("document", _("Signed acceptance document"), standing == Standing.ACCEPTED,
                      _sentence(standing, newest, record.model.code), url, _remedy(standing))


def _sentence(standing: Standing, document: Document | None, code: str) -> str:
    if document is None:
        return _("No acceptance document has been issued yet.")
    names = {"document": document}
    if standing == Standing.CONDITIONAL:
        n = len(open_conditions(document.review, code))
        return ngettext("%(document)s: passed with conditions, %(n)d of them is open.",
                        "%(document)s: passed with conditions, %(n)d of them are open.",
                        n) % {**names, "n": n}
    if standing == Standing.ACCEPTED:
        return _("%(document)s: %(decision)s.") % {
            **names, "decision": document.review.get_decision_display()}
    return {
        Standing.ABSENT: _("%(document)s does not cover this model."),
        Standing.WAITING: _("%(document)s has not been signed by the customer yet."),
        Standing.REJECTED: _("%(document)s was rejected."),
    }[standing] % names


def _remedy(standing: Standing) -> str:
    if standing == Standing.ACCEPTED:
        return ""
    if standing == Standing.CONDITIONAL:
        return _("Report how the outstanding issues were resolved; the customer closes them.")
    return _("Issue an acceptance document that covers this model; the "
             "customer decides and signs on its page.")
