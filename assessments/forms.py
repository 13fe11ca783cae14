"""Forms of criteria, baselines and files to judge."""

from decimal import Decimal

from django import forms
from django.utils.translation import gettext_lazy as _

from assessments.models import Baseline, MetricDefinition
from engagements.models import Engagement, MigratedModel
from engagements.stages import Stage
from workers.models import Artifact


class CriterionForm(forms.Form):
    """One threshold; entered in the unit of its definition, kept as a fraction for per cent."""

    model = forms.ModelChoiceField(MigratedModel.objects.none(), label=_("Model"))
    stage = forms.ChoiceField(choices=Stage, label=_("Stage"), initial=Stage.TRAIN_TUNE)
    definition = forms.ModelChoiceField(
        MetricDefinition.objects.all(), label=_("Metric definition"))
    threshold = forms.DecimalField(
        label=_("Threshold"), max_digits=24, decimal_places=10,
        help_text=_("In the unit of the definition: enter 2 for 2 %."))
    baseline = forms.ModelChoiceField(
        Baseline.objects.none(), required=False, label=_("Baseline"),
        help_text=_("Record it first if it is not in the list."))

    def __init__(self, *args, engagement: Engagement, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["model"].queryset = engagement.models.all()
        self.fields["definition"].label_from_instance = lambda d: (
            f"{d.local_name} {d.get_comparison_display()} … {d.unit}")
        baselines = Baseline.objects.filter(model__engagement=engagement)
        self.fields["baseline"].queryset = baselines.select_related("model", "artifact")
        self.fields["baseline"].label_from_instance = lambda b: (
            f"{b.model.code} · {b.quantity} · {b.artifact.name}")

    def clean(self):
        data = super().clean()
        definition, baseline = data.get("definition"), data.get("baseline")
        if baseline and definition and not baseline.serves(definition):
            self.add_error("baseline", _("This baseline holds another quantity (%(quantity)s).")
                           % {"quantity": baseline.quantity})
        if definition and definition.unit == "%" and data.get("threshold") is not None:
            data["threshold"] = data["threshold"] / Decimal(100)
        return data


class FileForm(forms.Form):
    """A stored file of the engagement, or a new one."""

    artifact = forms.ModelChoiceField(
        Artifact.objects.none(), required=False, label=_("Stored file"))
    upload = forms.FileField(required=False, label=_("or upload a raw file"),
                             help_text=_("The tool's own log or result, unchanged."))

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
    quantity = forms.ChoiceField(label=_("Quantity"))
    task = forms.CharField(max_length=100, required=False, label=_("Task"),
                           help_text=_("Of an evaluation score, for example: gsm8k/exact_match"))
    source = forms.CharField(max_length=160, required=False, label=_("Measured by, and where"))
    environment = forms.CharField(
        required=False, label=_("Environment"), widget=forms.Textarea(attrs={"rows": 5}),
        help_text=_("One fact per line, for example: cards = 8 × A100, PyTorch = 2.1.0, "
                    "seed = 1234"))
    field_order = ["model", "quantity", "task", "artifact", "upload", "source", "environment"]

    def __init__(self, *args, engagement: Engagement, **kwargs):
        super().__init__(*args, engagement=engagement, **kwargs)
        self.fields["model"].queryset = engagement.models.all()
        quantities = MetricDefinition.objects.order_by("quantity").values_list(
            "quantity", flat=True).distinct()
        self.fields["quantity"].choices = [(q, q) for q in quantities]
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


class SignForm(forms.Form):
    customer_signatory = forms.CharField(
        max_length=120, label=_("Signed for the customer by"),
        help_text=_("Name and position, as on the signed sheet."))
