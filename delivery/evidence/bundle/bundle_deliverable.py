"""The evidence bundle as an item of a review's check-list of deliverables, and as the archive of
an engagement that is closed."""

from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from delivery.acceptance.models import Review
from delivery.evidence.models import EvidenceBundle
from delivery.reports.models import Document
from engagements.closing import ClosingCondition, register_condition
from engagements.models import Engagement


def newest_bundle(review: Review, _language: str) -> list[tuple]:
    """Key, title, version, SHA-256 and URL of the newest bundle; empty if there is none."""
    newest = review.document.bundles.first()
    return [(f"bundle:{newest.sha256}", _("Evidence bundle (zip)"),
             f"V{review.document.version}.0", newest.sha256,
             reverse("evidence:bundle", args=[newest.pk]))] if newest else []


def _without_bundle(engagements: QuerySet[Engagement]) -> dict[int, str]:
    stored = EvidenceBundle.objects.filter(
        document__engagement=OuterRef("pk"), document__kind=Document.Kind.ACCEPTANCE,
        document__state__in=Document.IN_FORCE)
    return dict.fromkeys(engagements.exclude(Exists(stored)).values_list("pk", flat=True), _(
        "No evidence bundle of the final certificate is stored."))


register_condition(ClosingCondition(
    code="archive", label=gettext_lazy("Archive"),
    met=gettext_lazy("An evidence bundle of the final certificate is stored."),
    open_of=_without_bundle,
    url=lambda engagement: reverse("reports:engagement", args=[engagement.code])))
