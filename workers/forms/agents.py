"""Forms of agents."""

from django import forms
from django.utils.translation import gettext_lazy as _

from engagements.models import ApiToken
from engagements.services.agents import MOST_DAYS
from engagements.web.row_form import RowForm
from workers.agent_serializers import (
    EngagementHoursSerializer,
    HoursLimitsSerializer,
    NewAgentSerializer,
)


class HoursForm(RowForm):
    serializer_class = HoursLimitsSerializer


class EngagementHoursForm(RowForm):
    serializer_class = EngagementHoursSerializer


class AgentForm(RowForm):
    serializer_class = NewAgentSerializer
    days = forms.IntegerField(label=_("Valid for days"), min_value=1, max_value=MOST_DAYS,
                              initial=30)
    audience = forms.ChoiceField(label=_("Its key is for"), choices=ApiToken.Audience.choices,
                                 initial=ApiToken.Audience.API, required=False)

    def clean_audience(self) -> str:
        return self.cleaned_data["audience"] or ApiToken.Audience.API
