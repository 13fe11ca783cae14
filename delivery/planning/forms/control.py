from django import forms
from django.forms import formset_factory
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from delivery.planning.forms.base import DayInput, short_text
from delivery.planning.serializers.control import (
    MeetingSerializer,
    ProjectIssueSerializer,
    RiskSerializer,
    TodoSerializer,
    WeeklyReportSerializer,
)
from engagements.models import Engagement, User
from engagements.web.file_fields import ManyFiles
from engagements.web.row_form import RowForm


def firm_s_team(engagement: Engagement):
    """The firm's people on the team."""
    return User.objects.filter(memberships__engagement=engagement).exclude(role="reviewer")


def everybody_on_the_team(engagement: Engagement):
    """The people of either side on the team."""
    return User.objects.filter(memberships__engagement=engagement)


def models_of(engagement: Engagement):
    """The models of the engagement."""
    return engagement.models.all()


class RiskForm(RowForm):
    serializer_class = RiskSerializer
    offered = {"owner": firm_s_team}
    widgets = {"review_on": DayInput(), "response": short_text(3), "response_en": short_text(3)}


class IssueForm(RowForm):
    serializer_class = ProjectIssueSerializer
    offered = {"owner": firm_s_team, "model": models_of}
    widgets = {"raised_on": DayInput(), "due_on": DayInput(), "closed_on": DayInput()}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["raised_on"].initial = timezone.localdate()


class MeetingForm(RowForm):
    serializer_class = MeetingSerializer
    left_out = ("engagement", "todos", "attachments")
    widgets = {"held_at": forms.DateTimeInput(attrs={"type": "datetime-local"},
                                              format="%Y-%m-%dT%H:%M"),
               "participants": short_text(), "agenda": short_text(3),
               "discussion": short_text(4), "decisions": short_text(3)}

    files = ManyFiles(label=_("Attachments"), required=False)


class TodoForm(RowForm):
    serializer_class = TodoSerializer
    left_out = ("engagement", "meeting")
    offered = {"owner": everybody_on_the_team}
    widgets = {"due_on": DayInput()}


TodoSheet = formset_factory(TodoForm, extra=4, max_num=30)


class WeekForm(forms.Form):
    day = forms.DateField(label=_("Any day of the week"), widget=DayInput())


class WeeklyForm(RowForm):
    serializer_class = WeeklyReportSerializer
    widgets = {"summary": short_text(6), "deviations": short_text(2), "next_week": short_text(4),
               "problems": short_text(4), "customer_duties": short_text(2)}
