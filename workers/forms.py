"""Forms: enrolment of nodes, uploads, and job forms built from a kind's declaration."""

from django import forms
from django.utils.translation import gettext_lazy as _

from engagements.errors import InvalidInput
from workers import preflight
from workers.defaults import defaults_for
from workers.kinds import JobKind, Parameter
from workers.models import Artifact, Node, Priority


class NodeForm(forms.ModelForm):
    private_key = forms.CharField(
        label=_("Private key"), required=False,
        widget=forms.Textarea(attrs={"rows": 6, "autocomplete": "off"}),
        help_text=_("OpenSSH or PEM. It is stored encrypted and never shown again. Without one, "
                    "the SSH agent of the worker is asked."))
    passphrase = forms.CharField(label=_("Passphrase"), required=False,
                                 widget=forms.PasswordInput(attrs={"autocomplete": "off"}))

    class Meta:
        model = Node
        fields = ["name", "host", "port", "username", "private_key", "passphrase", "labels",
                  "cards_total", "ring_size", "scratch_dir", "keep_days", "set_env",
                  "bastion_host", "bastion_port", "bastion_username", "bastion_host_key",
                  "is_practice"]


class UploadForm(forms.Form):
    upload = forms.FileField(label=_("File"))
    note = forms.CharField(label=_("Note"), max_length=240, required=False)


FIELDS = {
    "integer": forms.IntegerField, "number": forms.FloatField, "flag": forms.BooleanField,
    "choice": forms.ChoiceField,
}


class JobForm(forms.Form):
    """The node, then the kind's own parameters."""

    def __init__(self, *args, kind: JobKind, user, engagement, migrated=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.kind, self.migrated = kind, migrated
        self.defaults = defaults_for(kind, migrated)
        if kind.runs_on_node:
            ready = Node.objects.visible_to(user).filter(state=Node.State.READY)
            self.fields["node"] = forms.ModelChoiceField(
                ready, label=_("Node"), initial=ready.first(), empty_label=None)
            self.fields["priority"] = forms.ChoiceField(
                choices=Priority, label=_("Priority"), initial=Priority.NORMAL, required=False,
                help_text=_("Whose turn it is for cards: urgent ones first."))
        for parameter in kind.parameters:
            self.fields[parameter.name] = _field(parameter, engagement)
            if parameter.name in self.defaults:
                _preset(self.fields[parameter.name], self.defaults[parameter.name])

    def preflight_hits(self) -> list:
        """Hits of the rules over the values as they stand; none while they are not complete."""
        bound = self.is_bound and self.is_valid()
        given = {p.name: self.cleaned_data.get(p.name) if bound
                 else self.defaults.get(p.name, p.default)
                 for p in self.kind.parameters}
        node = (self.cleaned_data.get("node") if bound
                else self["node"].initial if "node" in self.fields else None)
        try:
            values = self.kind.clean({name: _plain(value) for name, value in given.items()})
        except InvalidInput:
            return []
        return preflight.outcome_for(self.kind, values, node, self.migrated).hits

    def parameters(self) -> dict:
        """The cleaned values of the kind's parameters."""
        return {p.name: _plain(self.cleaned_data.get(p.name)) for p in self.kind.parameters}


def _preset(field: forms.Field, value) -> None:
    """The value instead of the kind's default, and a word on where it comes from."""
    origin = _("Preset from the survey.")
    field.initial, field.help_text = value, f"{field.help_text} {origin}".strip()


def _plain(value):
    return value.pk if isinstance(value, Artifact) else value


def _field(parameter: Parameter, engagement) -> forms.Field:
    label = f"{parameter.label} ({parameter.unit})" if parameter.unit else parameter.label
    common = {"label": label, "required": parameter.is_required and parameter.type != "flag",
              "initial": parameter.default, "help_text": parameter.help}
    if parameter.type == "artifact":
        files = Artifact.objects.filter(engagement=engagement).exclude(readings=None)
        return _ArtifactField(files.select_related("job").distinct().order_by("-pk"), **common)
    if parameter.type == "choice":
        nothing = [] if common["required"] or parameter.default else [("", "–")]
        return forms.ChoiceField(choices=[*nothing, *((c, c) for c in parameter.choices)], **common)
    if parameter.type in ("integer", "number"):
        return FIELDS[parameter.type](min_value=parameter.minimum, max_value=parameter.maximum,
                                      **common)
    return FIELDS.get(parameter.type, forms.CharField)(**common)


class _ArtifactField(forms.ModelChoiceField):
    def label_from_instance(self, artifact: Artifact) -> str:
        job = f" · #{artifact.job_id} {artifact.job.kind}" if artifact.job else ""
        return f"{artifact.pk}: {artifact.name}{job}"
