"""Forms of a change on many nodes: which nodes, and what."""

from django import forms
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from workers.forms.node_calendar import WHEN
from workers.models import Node


class _Nodes(forms.Form):
    nodes = forms.ModelMultipleChoiceField(
        Node.objects.none(), label=_("Nodes"), widget=forms.SelectMultiple(attrs={"size": 10}))

    def __init__(self, *args, chosen_of, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["nodes"].queryset = chosen_of


class SettingsForm(_Nodes):
    title = _("Labels and settings")
    add_labels = forms.CharField(label=_("Add labels"), required=False, max_length=160)
    remove_labels = forms.CharField(label=_("Remove labels"), required=False, max_length=160)
    keep_days = forms.IntegerField(required=False, min_value=0, max_value=3650)
    disk_warning_mb = forms.IntegerField(required=False, min_value=0)
    disk_stop_mb = forms.IntegerField(required=False, min_value=0)
    temperature_limit = forms.IntegerField(required=False, min_value=40, max_value=120)
    transfer_mbit = forms.IntegerField(required=False, min_value=0)

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            if field.label is None:
                field.label = capfirst(Node._meta.get_field(name).verbose_name)
                field.help_text = _("Empty: as it is.")


class MaintenancesForm(_Nodes):
    title = _("Maintenance window")
    starts_at = forms.DateTimeField(label=pgettext_lazy("period", "From"), widget=WHEN)
    ends_at = forms.DateTimeField(label=pgettext_lazy("period", "To"), widget=WHEN)
    stops_jobs_at = forms.DateTimeField(
        label=_("Stop running jobs at"), required=False, widget=WHEN,
        help_text=_("Empty: jobs that run go on to their end."))
    reason = forms.CharField(label=_("Reason"), max_length=160)


class KeysForm(_Nodes):
    title = _("Rotate keys")
    is_understood = forms.BooleanField(label=_(
        "Each node gets a new key. It is tried before the old one is dropped and taken out of "
        "authorized_keys."))

    def clean(self) -> dict:
        data = super().clean()
        data.pop("is_understood", None)
        return data


FORMS = {"settings": SettingsForm, "maintenance": MaintenancesForm, "keys": KeysForm}
