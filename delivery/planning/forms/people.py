from django import forms
from django.utils.translation import gettext_lazy as _

from delivery.planning.forms.base import DayInput
from delivery.planning.models import Absence


class AbsenceForm(forms.Form):
    """Days on which a person is away."""

    first = forms.DateField(label=_("First day"), widget=DayInput())
    last = forms.DateField(label=_("Last day"), widget=DayInput(), required=False,
                           help_text=_("Empty for a single day."))
    kind = forms.ChoiceField(label=_("Kind"), choices=Absence.Kind)
    note = forms.CharField(label=_("Note"), max_length=120, required=False)


class SkillForm(forms.Form):
    """What a person can do."""

    name = forms.CharField(label=_("Skill or certificate"), max_length=80)
    certificate = forms.CharField(label=_("Certificate number"), max_length=80, required=False)
    valid_until = forms.DateField(label=_("Valid until"), widget=DayInput(), required=False)


class PeriodForm(forms.Form):
    """From one day to another."""

    start = forms.DateField(label=_("From"), widget=DayInput(), required=False)
    end = forms.DateField(label=_("To"), widget=DayInput(), required=False)


class MarginFloorForm(forms.Form):
    """The firm's lowest margin."""

    percent = forms.DecimalField(label=_("Lowest margin of an engagement (%)"), min_value=-100,
                                 max_value=100, max_digits=5, decimal_places=2)
