"""Forms of files to judge and of baselines."""

from django import forms
from django.utils.translation import gettext_lazy as _

from assessments.models import Baseline, MetricDefinition
from assessments.presentation.quantity_labels import quantity_label
from engagements.models import Engagement, MigratedModel
from engagements.web.file_fields import ManyFiles
from workers.models import Artifact


class FileForm(forms.Form):
    """A stored file of the engagement, or a new one."""

    artifact = forms.ModelChoiceField(
        Artifact.objects.none(), required=False, label=_("Stored file"))
    upload = forms.FileField(required=False, label=_("or upload a raw file"),
                             help_text=_("The tool's original log or result, unmodified."))

    def __init__(self, *args, engagement: Engagement, **kwargs):
        super().__init__(*args, **kwargs)
        files = Artifact.objects.filter(engagement=engagement, readings__isnull=False)
        self.fields["artifact"].queryset = files.distinct().order_by("-pk")
        self.fields["artifact"].label_from_instance = lambda a: (
            f"#{a.pk} {a.name} · {a.sha256[:12]}…")

    def clean(self):
        data = super().clean()
        if bool(data.get("artifact")) == bool(data.get("upload")):
            raise forms.ValidationError(_("Choose a stored file or upload one."))
        return data


class BaselineForm(FileForm):
    """A reference of the source platform."""

    model = forms.ModelChoiceField(MigratedModel.objects.none(), label=_("Model"))
    quantity = forms.ChoiceField(label=_("Measured metric"))
    task = forms.CharField(max_length=100, required=False, label=_("Task"),
                           help_text=_("Of an evaluation score, for example: gsm8k/exact_match"))
    stored_repeats = forms.ModelMultipleChoiceField(
        Artifact.objects.none(), required=False, label=_("Stored files of its repeats"),
        help_text=_("Three runs or more are wanted, this one included: they show that the "
                    "baseline can be repeated and how far its figures scatter."))
    repeats = ManyFiles(required=False, label=_("or upload the files of its repeats"))
    hardware = forms.CharField(max_length=240, required=False, label=_("Hardware"))
    software = forms.CharField(max_length=240, required=False, label=_("Software"))
    data_set = forms.CharField(max_length=240, required=False, label=_("Data set"))
    seeds = forms.CharField(max_length=120, required=False, label=_("Seeds"))
    origin = forms.ChoiceField(
        choices=Baseline.Origin, initial=Baseline.Origin.MEASURED, label=_("Origin"),
        help_text=_("A published figure (website, paper, model card) carries a warning wherever it "
                    "is compared with."))
    source = forms.CharField(max_length=160, required=False,
                             label=_("Measured or published by, and location"))
    environment = forms.CharField(
        required=False, label=_("Environment"), widget=forms.Textarea(attrs={"rows": 5}),
        help_text=_("One fact per line, for example: cards = 8 × A100, PyTorch = 2.1.0, "
                    "seed = 1234"))
    field_order = ["model", "quantity", "task", "artifact", "upload", "stored_repeats",
                   "repeats", "hardware", "software",
                   "data_set", "seeds", "origin", "source", "environment"]

    def __init__(self, *args, engagement: Engagement, **kwargs):
        super().__init__(*args, engagement=engagement, **kwargs)
        self.fields["model"].queryset = engagement.models.all()
        for name in ("queryset", "label_from_instance"):
            setattr(self.fields["stored_repeats"], name, getattr(self.fields["artifact"], name))
        quantities = MetricDefinition.objects.order_by("quantity").values_list(
            "quantity", flat=True).distinct()
        self.fields["quantity"].choices = [(q, quantity_label(q)) for q in quantities]
        self.fields["quantity"].initial = "loss_curve"

    def clean(self):
        data = super().clean()
        if data.get("task") and data.get("quantity"):
            data["quantity"] = f"{data['quantity']}:{data['task'].strip()}"
        return data

    def clean_environment(self) -> dict[str, str]:
        """`key = value` lines as a mapping; a line without a sign is a note."""
        facts = {}
        for line in self.cleaned_data["environment"].splitlines():
            key, sign, value = line.partition("=")
            if line.strip():
                facts[key.strip()] = value.strip() if sign else ""
        return facts
