"""Forms: enrolment of nodes, uploads, and job forms built from a kind's declaration."""

from django import forms
from django.utils.translation import gettext_lazy as _

from workers.kinds import JobKind, Parameter
from workers.models import Artifact, Node


class NodeForm(forms.ModelForm):
    private_key = forms.CharField(
        label=_("Private key"), widget=forms.Textarea(attrs={"rows": 6, "autocomplete": "off"}),
        help_text=_("OpenSSH or PEM. It is stored encrypted and never shown again."))
    passphrase = forms.CharField(label=_("Passphrase"), required=False,
                                 widget=forms.PasswordInput(attrs={"autocomplete": "off"}))

    class Meta:
        model = Node
        fields = ["name", "host", "port", "username", "private_key", "passphrase", "cards_total",
                  "scratch_dir", "set_env", "is_practice"]


class UploadForm(forms.Form):
    upload = forms.FileField(label=_("File"))
    note = forms.CharField(label=_("Note"), max_length=240, required=False)


FIELDS = {
    "integer": forms.IntegerField, "number": forms.FloatField, "flag": forms.BooleanField,
    "choice": forms.ChoiceField,
}


class JobForm(forms.Form):
    """The node, then the kind's own parameters."""

    def __init__(self, *args, kind: JobKind, user, engagement, **kwargs):
        super().__init__(*args, **kwargs)
        self.kind = kind
        if kind.runs_on_node:
            ready = Node.objects.visible_to(user).filter(state=Node.State.READY)
            self.fields["node"] = forms.ModelChoiceField(
                ready, label=_("Node"), initial=ready.first(), empty_label=None)
        for parameter in kind.parameters:
            self.fields[parameter.name] = _field(parameter, engagement)

    def parameters(self) -> dict:
        """The cleaned values of the kind's parameters."""
        return {p.name: _plain(self.cleaned_data.get(p.name)) for p in self.kind.parameters}


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
        return forms.ChoiceField(choices=[(c, c) for c in parameter.choices], **common)
    if parameter.type in ("integer", "number"):
        return FIELDS[parameter.type](min_value=parameter.minimum, max_value=parameter.maximum,
                                      **common)
    return FIELDS.get(parameter.type, forms.CharField)(**common)


class _ArtifactField(forms.ModelChoiceField):
    def label_from_instance(self, artifact: Artifact) -> str:
        job = f" · #{artifact.job_id} {artifact.job.kind}" if artifact.job else ""
        return f"{artifact.pk}: {artifact.name}{job}"
