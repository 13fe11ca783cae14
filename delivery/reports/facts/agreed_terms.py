"""Facts of the agreement as a document prints them; what it does not hold is not agreed."""

from collections.abc import Callable

from django.urls import reverse
from django.utils.translation import gettext as _

from delivery.agreement.facts import BY_NAME, shown
from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.reports.facts.source import Source


def terms(source: Source, caption: Callable[[], str], *names: str) -> dict:
    """A row per fact."""
    return {**table(caption, [column(lambda: _("Fact")), column(lambda: _("Agreed on"))], [
        [both(lambda n=name: BY_NAME[n].label),
         both(lambda n=name: shown(n, source.agreement.value(n)))] for name in names]),
        "cure": reverse("agreement:agreement", args=[source.engagement.code])}
