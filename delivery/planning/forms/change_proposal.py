from django import forms

from delivery.planning.forms.base import DayInput, short_text
from delivery.planning.models import ChangeProposal
from engagements.models import Engagement


class ChangeProposalForm(forms.ModelForm):
    """What a person of the customer writes: no price, no field of the firm."""

    class Meta:
        model = ChangeProposal
        fields = ["title", "category", "model", "description", "reason", "wanted_by"]
        widgets = {"description": short_text(4), "reason": short_text(3), "wanted_by": DayInput()}

    def __init__(self, *args, engagement: Engagement, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["model"].queryset = engagement.models.all()

    def _post_clean(self):
        """Nothing is put on the instance: the service makes it."""
