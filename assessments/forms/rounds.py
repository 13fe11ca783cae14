"""Forms of the optimisation history."""

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from assessments.forms.files import FileForm
from assessments.models import OptimisationRound
from assessments.performance.techniques import Technique, names_of_settings, settings_in
from assessments.queries import of_target
from engagements.errors import InvalidInput
from engagements.models import MigratedModel
from engagements.text.text_joining import following
from workers.models import Artifact

AREAS = [choice for choice in OptimisationRound.Area.choices if choice[0] != "start"]


class RoundForm(FileForm):
    """A change and the file of the run measured after it; the figures are read from the file."""

    area = forms.ChoiceField(label=_("Area"), choices=AREAS)
    finding = forms.CharField(label=_("What the analysis showed"), required=False,
                              widget=forms.Textarea(attrs={"rows": 2}))
    change = forms.CharField(label=_("What was changed"), required=False,
                             widget=forms.Textarea(attrs={"rows": 2}))
    profile = forms.ModelChoiceField(Artifact.objects.none(), required=False,
                                     label=_("Profile or analysis of this run"))
    technique = forms.ChoiceField(label=_("Technique"), required=False,
                                  choices=[("", "–"), *Technique.choices])
    configuration = forms.CharField(label=_("Settings of the technique"), required=False,
                                    widget=forms.Textarea(attrs={"rows": 6}))
    field_order = ["area", "finding", "change", "technique", "configuration", "artifact", "upload",
                   "profile"]

    def __init__(self, *args, model: MigratedModel, **kwargs):
        super().__init__(*args, engagement=model.engagement, **kwargs)
        for name, kinds in (("artifact", ("training_log", "inference_benchmark", "memory",
                                          "node_report", "profile")), ("profile", ("profile",))):
            self.fields[name].queryset = _files(model, kinds)
            self.fields[name].label_from_instance = lambda a: f"#{a.pk} {a.name}"
        self.fields["artifact"].label = _("File of the measured run")
        if not model.optimisation_rounds.exists():
            for name in ("area", "finding", "change", "technique", "configuration"):
                del self.fields[name]
        else:
            self.fields["configuration"].help_text = following(
                gettext("As the file prints them (JSON, .ini, YAML, with comments), or one “name = "
                        "value” a line."), names_of_settings())

    def clean_configuration(self) -> dict:
        try:
            return settings_in(self.cleaned_data["configuration"])
        except InvalidInput as error:
            raise forms.ValidationError(error.message) from error


def _files(model: MigratedModel, kinds: tuple[str, ...]):
    """Files of the model with such readings on the target platform, newest first."""
    found = Artifact.objects.filter(engagement=model.engagement, readings__kind__in=kinds)
    found = found.filter(model=model) | found.filter(model=None)
    return of_target(found, file="").distinct().order_by("-pk")
