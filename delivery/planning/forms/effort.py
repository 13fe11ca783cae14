from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from delivery.planning.forms.base import DayInput
from delivery.planning.models import EffortEstimate, EffortLine, GradeCost, TimeEntry
from engagements.models import Engagement, User


class DaysForm(forms.ModelForm):
    """The days of a line and why they differ from what the rules gave."""

    seen = forms.IntegerField(widget=forms.HiddenInput, required=False)

    class Meta:
        model = EffortLine
        fields = ["low", "likely", "high", "reason"]

    def __init__(self, *args, estimate: EffortEstimate, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["reason"].required = True
        self.fields["seen"].initial = estimate.lock_version
        if "model" in self.fields:
            self.fields["model"].queryset = estimate.engagement.models.current()
            self.fields["model"].empty_label = _("The whole engagement")

    def _post_clean(self):
        """Nothing is put on the instance: the service says in words what does not fit."""


class NewLineForm(DaysForm):
    class Meta:
        model = EffortLine
        fields = ["model", "stage", "item", "grade", "low", "likely", "high", "reason"]
        labels = {"model": _("Model")}


class TimeForm(forms.ModelForm):
    """One or both half-days of a day."""

    halves = forms.MultipleChoiceField(label=_("Half-days"), choices=TimeEntry.Half,
                                       widget=forms.CheckboxSelectMultiple)
    is_free_day = forms.BooleanField(
        label=_("Worked on a weekend or public holiday"), required=False)

    class Meta:
        model = TimeEntry
        fields = ["person", "work_date", "halves", "is_free_day", "item", "grade", "model",
                  "stage", "note"]
        widgets = {"work_date": DayInput()}
        labels = {"person": _("Person"), "model": _("Model")}

    def __init__(self, *args, engagement: Engagement, user: User, may_book_others: bool,
                 **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["work_date"].initial = timezone.localdate()
        self.fields["model"].queryset = engagement.models.all()
        team = User.objects.filter(memberships__engagement=engagement)
        if may_book_others:
            self.fields["person"].queryset = team.exclude(role="reviewer")
            self.fields["person"].initial = user
        else:
            del self.fields["person"]

    def _get_validation_exclusions(self):
        # The service says in words that a half-day is taken.
        return super()._get_validation_exclusions() | {"half"}


class CorrectionForm(forms.ModelForm):
    """What really was done in a confirmed half-day, and why it is corrected."""

    is_taken_back = forms.BooleanField(
        label=_("The half-day was not worked on this engagement"), required=False)
    reason = forms.CharField(label=_("Reason for the correction"), max_length=240)

    class Meta:
        model = TimeEntry
        fields = ["item", "grade", "model", "stage"]
        labels = {"model": _("Model")}

    def __init__(self, *args, entry: TimeEntry, **kwargs):
        super().__init__(*args, **kwargs)
        self.initial |= {"item": entry.item, "grade": entry.grade, "model": entry.model_id,
                         "stage": entry.stage}
        self.fields["model"].queryset = entry.engagement.models.all()

    def _post_clean(self):
        """Nothing is put on an instance: the service writes a new entry."""


class CostForm(forms.ModelForm):
    class Meta:
        model = GradeCost
        fields = ["grade", "day_cost"]

    def _post_clean(self):
        """Nothing is put on the instance: a grade that has a cost gets the new one."""
