"""Forms of the calendar: a reservation or maintenance window, and a quota."""

from django import forms
from django.utils.translation import gettext_lazy as _

from engagements.models import Engagement
from workers.models import Node, NodeReservation

WHEN = forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")


class ReservationForm(forms.ModelForm):
    class Meta:
        model = NodeReservation
        fields = ["node", "engagement", "cards", "starts_at", "ends_at", "reason"]
        widgets = {"starts_at": WHEN, "ends_at": WHEN}

    def __init__(self, *args, user, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["node"].queryset = Node.objects.visible_to(user)
        self.fields["engagement"].queryset = Engagement.objects.visible_to(user)
        self.fields["engagement"].empty_label = _("nobody: maintenance of the whole node")
        self.fields["cards"].required = False

    def clean_cards(self) -> int:
        return self.cleaned_data["cards"] or 0

    def _post_clean(self) -> None:
        """The service checks the row as a whole."""


class QuotaForm(forms.Form):
    engagement = forms.ModelChoiceField(Engagement.objects.none(), label=_("Engagement"))
    cards = forms.IntegerField(label=_("Cards at once"), min_value=1, max_value=10_000,
                               required=False, help_text=_("Empty: no limit."))

    def __init__(self, *args, user, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["engagement"].queryset = Engagement.objects.visible_to(user)
