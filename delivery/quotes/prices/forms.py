"""Forms of price lists and of the discount limits."""

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from delivery.quotes.models import PriceImport
from delivery.quotes.prices.table import FIELDS
from delivery.quotes.tax_and_discounts import APPROVERS, discount_limit
from engagements.web.percent_field import PercentField

DATE = {"type": "date"}


class UploadForm(forms.Form):
    name = forms.CharField(label=_("Name of the price list"), max_length=120)
    valid_from = forms.DateField(label=_("Valid from"), initial=timezone.localdate,
                                 widget=forms.DateInput(attrs=DATE, format="%Y-%m-%d"))
    valid_to = forms.DateField(label=_("Valid to"), required=False,
                               widget=forms.DateInput(attrs=DATE, format="%Y-%m-%d"))
    file = forms.FileField(label=_("Workbook (.xlsx)"),
                           widget=forms.FileInput(attrs={"accept": ".xlsx"}))


class ColumnsForm(forms.Form):
    """A column per field, by letter and heading."""

    header_row = forms.IntegerField(label=_("Row of the headings"), min_value=1)

    def __init__(self, *args, source: PriceImport, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["header_row"].initial = source.header_row
        row = source.rows[source.header_row - 1] if source.rows else []
        width = max((len(cells) for cells in source.rows), default=0)
        choices = [("", "--"), *((str(n), self._label(n, row)) for n in range(width))]
        for name, (label, _words) in FIELDS.items():
            self.fields[name] = forms.ChoiceField(
                label=label, choices=choices, required=False,
                initial=str(source.columns.get(name, "")))

    @staticmethod
    def _label(column: int, row: list[str]) -> str:
        from openpyxl.utils import get_column_letter  # slow to import: not at start

        heading = row[column][:30] if column < len(row) else ""
        return f"{get_column_letter(column + 1)} {heading}".strip()

    def columns(self) -> dict[str, int]:
        """{field: column from 0} of what was chosen."""
        return {name: int(self.cleaned_data[name]) for name in FIELDS if self.cleaned_data[name]}


class CloseForm(forms.Form):
    valid_to = forms.DateField(label=_("Valid to"),
                               widget=forms.DateInput(attrs=DATE, format="%Y-%m-%d"))


class LimitsForm(forms.Form):
    """The largest discount per approving role."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for role in APPROVERS:
            self.fields[role.value] = PercentField(
                label=_("Maximum discount (%%): %(role)s") % {"role": role.label}, min_value=0,
                max_value=100, decimal_places=2, initial=discount_limit(role))
