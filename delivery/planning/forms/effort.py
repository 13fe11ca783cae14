from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from delivery.planning.forms.base import DayInput
from delivery.planning.forms.control import firm_s_team, models_of
from delivery.planning.models import EffortEstimate, TimeEntry
from delivery.planning.serializers.effort import (
    NewLineSerializer,
    TimeCorrectionSerializer,
    TimeEntrySerializer,
)
from delivery.planning.serializers.usage import GradeCostSerializer
from engagements.models import User
from engagements.web.row_form import RowForm


class NewLineForm(RowForm):
    """A line of an estimate, whose version the page showed, and why the rules do not give it."""

    serializer_class = NewLineSerializer
    offered = {"model": lambda estimate: estimate.engagement.models.current()}
    labels = {"model": _("Model")}

    seen = forms.IntegerField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args, of: EffortEstimate, **kwargs):
        super().__init__(*args, of=of, **kwargs)
        self.fields["seen"].initial = of.lock_version
        if "model" in self.fields:
            self.fields["model"].empty_label = _("The whole engagement")


class DaysForm(NewLineForm):
    """The days of a line and why they differ from what the rules gave."""

    left_out = ("model", "stage", "item", "grade")


class TimeForm(RowForm):
    """One or both half-days of a day."""

    serializer_class = TimeEntrySerializer
    left_out = ("engagement", "half")
    offered = {"person": firm_s_team, "model": models_of}
    widgets = {"work_date": DayInput()}
    labels = {"person": _("Person"), "model": _("Model")}
    field_order = ("person", "work_date", "halves", "is_free_day")

    halves = forms.MultipleChoiceField(label=_("Half-days"), choices=TimeEntry.Half,
                                       widget=forms.CheckboxSelectMultiple)
    is_free_day = forms.BooleanField(
        label=_("Worked on a weekend or public holiday"), required=False)

    def __init__(self, *args, user: User, may_book_others: bool, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["work_date"].initial = timezone.localdate()
        if may_book_others:
            self.fields["person"].initial = user
        else:
            del self.fields["person"]


class CorrectionForm(RowForm):
    """What really was done in a confirmed half-day, and why it is corrected."""

    serializer_class = TimeCorrectionSerializer
    offered = {"model": models_of}
    labels = {"model": _("Model")}
    field_order = ("item", "grade", "model", "stage", "is_taken_back")

    is_taken_back = forms.BooleanField(
        label=_("The half-day was not worked on this engagement"), required=False)
    reason = forms.CharField(label=_("Reason for the correction"), max_length=240)


class CostForm(RowForm):
    serializer_class = GradeCostSerializer

    valid_from = forms.DateField(
        label=_("Valid from"), required=False, widget=forms.DateInput(
            attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text=_("Empty: from today. What was worked before costs what it cost then."))
