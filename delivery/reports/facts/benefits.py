"""What the tuning of the models is worth, computed, with the derivation of each factor."""

from django.urls import reverse
from django.utils.translation import gettext as _

from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.quotes.benefit import benefits_of
from delivery.reports.facts.source import Source


def benefits(source: Source) -> dict:
    """A row per model and sort of card hours."""
    rows = [[found.model.code, both(lambda f=found: f.gain_sentence),
             both(lambda f=found: f.hours_sentence), both(lambda f=found: f.price_sentence),
             both(lambda f=found: f.amount_sentence)]
            for model in source.models for found in benefits_of(model)]
    return {**table(lambda: _("Benefit of the tuning: time saved × card hours × price"), [
        column(lambda: _("Model"), "code"), column(lambda: _("Time saved")),
        column(lambda: _("Card hours")), column(lambda: _("Price of a card hour (excl. tax)")),
        column(lambda: _("Benefit"), "number")], rows, is_dense=True,
        empty=lambda: _("No model is in scope.")),
        "cure": reverse("assessments:performance", args=[source.engagement.code])}
