from django import forms
from django.utils.translation import gettext_lazy as _

from delivery.planning.forms.base import DayInput


class CalendarDaysForm(forms.Form):
    """Days from the first to the last, all worked or all free."""

    first = forms.DateField(label=_("First day"), widget=DayInput())
    last = forms.DateField(label=_("Last day"), widget=DayInput(), required=False,
                           help_text=_("Empty for a single day."))
    is_worked = forms.TypedChoiceField(
        label=_("Counted as"), coerce=lambda value: value == "True",
        choices=[(True, _("working day")), (False, _("day off"))])
    name = forms.CharField(label=_("Name"), max_length=40, required=False)
