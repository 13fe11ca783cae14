"""Per cent on the page, a fraction in the row."""

from decimal import Decimal

from django import forms


class PercentField(forms.DecimalField):
    """Shows and takes per cent: "5" on the page is Decimal("0.05") for the service.

    `min_value`, `max_value` and `decimal_places` are those of the figure on the page.
    """

    def prepare_value(self, value):
        """A stored fraction as per cent; what was typed stays as it was typed."""
        return f"{(value * 100).normalize():f}" if isinstance(value, Decimal) else value

    def clean(self, value):
        cleaned = super().clean(value)
        return None if cleaned is None else cleaned / 100
