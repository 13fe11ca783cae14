"""Forms of the calendar: a reservation or maintenance window, and a quota."""

from django import forms
from django.utils.translation import gettext_lazy as _

from engagements.models import Engagement
from engagements.web.suggest_field import SuggestField
from workers.forms.declared_bounds import bounded
from workers.models import Node, NodeReservation

WHEN = forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")


class ReservationForm(forms.ModelForm):
    engagement = SuggestField(
        Engagement.objects.none(), label=_("Engagement"), required=False, to_field_name="code",
        help_text=_("Leave empty for maintenance"))

    is_over_reservations = forms.BooleanField(
        label=_("Maintenance goes before reservations of engagements"), required=False)

    class Meta:
        model, formfield_callback = NodeReservation, bounded
        fields = ["node", "engagement", "cards", "starts_at", "ends_at", "stops_jobs_at", "reason"]
        widgets = {"starts_at": WHEN, "ends_at": WHEN, "stops_jobs_at": WHEN}

    def __init__(self, *args, user, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["node"].queryset = Node.objects.visible_to(user)
        self.fields["engagement"].queryset = Engagement.objects.visible_to(user)
        self.fields["cards"].required = False

    def clean_cards(self) -> int:
        return self.cleaned_data["cards"] or 0

    def _post_clean(self) -> None:
        """The service checks the row as a whole."""


class MaintenanceForm(forms.Form):
    """Of one node, from now on; the data are the service's arguments."""

    on = forms.CharField()
    until = forms.DateTimeField(required=False)
    stops_jobs_at = forms.DateTimeField(required=False)
    reason = forms.CharField(required=False, max_length=160)

    def clean(self) -> dict:
        data = super().clean()
        data["is_on"] = data.pop("on", "") == "yes"
        return data


class QuotaForm(forms.Form):
    engagement = SuggestField(Engagement.objects.none(), label=_("Engagement"),
                              to_field_name="code")
    cards = forms.IntegerField(label=_("Cards at once"), min_value=1, max_value=10_000,
                               required=False, help_text=_("Empty: no limit."))

    def __init__(self, *args, user, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["engagement"].queryset = Engagement.objects.visible_to(user)
