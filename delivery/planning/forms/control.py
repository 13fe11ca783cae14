from django import forms
from django.forms import formset_factory
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from delivery.planning.forms.base import DayInput, ManyFiles, short_text
from delivery.planning.models import Meeting, ProjectIssue, Risk, WeeklyReport
from engagements.models import Engagement, User
from engagements.web.optimistic_locked_form import OptimisticLockedForm


def team_of(engagement: Engagement):
    """The firm's people on the team."""
    return User.objects.filter(memberships__engagement=engagement).exclude(role="reviewer")


class TeamForm(OptimisticLockedForm):
    """A form whose owner is somebody of the team."""

    def __init__(self, *args, engagement: Engagement, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["owner"].queryset = team_of(engagement)
        if "model" in self.fields:
            self.fields["model"].queryset = engagement.models.all()

    def _post_clean(self):
        """Nothing is put on the instance: the service compares with what is stored."""


class RiskForm(TeamForm):
    class Meta:
        model = Risk
        fields = ["title", "title_en", "probability", "impact", "response", "response_en",
                  "owner", "review_on", "state", "is_internal"]
        widgets = {"review_on": DayInput(), "response": short_text(3),
                   "response_en": short_text(3)}


class IssueForm(TeamForm):
    class Meta:
        model = ProjectIssue
        fields = ["description", "level", "model", "effect", "affects_final", "raised_on",
                  "owner", "due_on", "closed_on"]
        widgets = {"raised_on": DayInput(), "due_on": DayInput(), "closed_on": DayInput()}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["raised_on"].initial = timezone.localdate()


class MeetingForm(OptimisticLockedForm):
    files = ManyFiles(label=_("Attachments"), required=False)

    class Meta:
        model = Meeting
        fields = ["topic", "held_at", "place", "chair", "participants", "agenda", "discussion",
                  "decisions"]
        widgets = {"held_at": forms.DateTimeInput(attrs={"type": "datetime-local"},
                                                  format="%Y-%m-%dT%H:%M"),
                   "participants": short_text(), "agenda": short_text(3),
                   "discussion": short_text(4), "decisions": short_text(3)}

    def _post_clean(self):
        """Nothing is put on the instance: the service compares with what is stored."""


class TodoForm(forms.Form):
    text = forms.CharField(label=_("To do"), max_length=240)
    owner = forms.ModelChoiceField(None, label=_("Owner"))
    due_on = forms.DateField(label=_("Due date"), widget=DayInput())

    def __init__(self, *args, engagement: Engagement, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["owner"].queryset = User.objects.filter(
            memberships__engagement=engagement)  # of either side


TodoSheet = formset_factory(TodoForm, extra=4, max_num=30)


class WeekForm(forms.Form):
    day = forms.DateField(label=_("Any day of the week"), widget=DayInput())


class WeeklyForm(OptimisticLockedForm):
    class Meta:
        model = WeeklyReport
        fields = ["light", "summary", "deviations", "next_week", "problems", "customer_duties"]
        widgets = {"summary": short_text(6), "deviations": short_text(2),
                   "next_week": short_text(4), "problems": short_text(4),
                   "customer_duties": short_text(2)}

    def _post_clean(self):
        """Nothing is put on the instance: the service compares with what is stored."""
