"""Forms of criteria, their signature and waivers."""

from decimal import Decimal

from django import forms
from django.utils.translation import gettext_lazy as _

from assessments.definitions.criteria_sets import ReadySet
from assessments.definitions.threshold_units import ThresholdUnit
from assessments.models import Baseline, MetricDefinition
from assessments.presentation.quantity_labels import quantity_label
from engagements.models import Engagement, MigratedModel
from engagements.stages import Stage
from toolreaders.verdicts.sentences import scale_of


class CriterionForm(forms.Form):
    """One threshold; entered in the unit of its definition, kept as a fraction for per cent."""

    model = forms.ModelChoiceField(MigratedModel.objects.none(), label=_("Model"))
    stage = forms.ChoiceField(choices=Stage, label=_("Stage"), initial=Stage.TRAIN_TUNE)
    definition = forms.ModelChoiceField(
        MetricDefinition.objects.all(), label=_("Metric definition"))
    threshold = forms.DecimalField(
        label=_("Threshold"), max_digits=24, decimal_places=10,
        help_text=_("In the unit of the definition: enter 2 for 2 %."))
    threshold_unit = forms.ChoiceField(
        label=_("Unit of the threshold"), required=False,
        choices=[("", _("as in the definition")), *ThresholdUnit.choices],
        help_text=_("Required when the threshold is unusual for a percentage."))
    baseline = forms.ModelChoiceField(
        Baseline.objects.none(), required=False, label=_("Baseline"),
        help_text=_("Record it first if it is not in the list."))
    point = forms.CharField(
        label=_("At the point"), max_length=60, required=False,
        help_text=_("For latency and throughput of inference: c8,i1024,o256 (concurrency, input "
                    "and output tokens) or b8 (batch). Empty: any result counts."))

    selection = forms.ChoiceField(
        label=_("Which runs count"), required=False,
        choices=[("", _("as in the definition")), *MetricDefinition.Selection.choices])
    runs = forms.IntegerField(
        label=_("Runs wanted (k)"), min_value=1, required=False,
        help_text=_("How many of the last runs the rule looks at; frozen with the criterion."))

    def __init__(self, *args, engagement: Engagement, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["model"].queryset = engagement.models.current()
        self.fields["definition"].label_from_instance = lambda d: (
            f"{d.localized_name} {d.get_comparison_display()} … {d.unit}")
        baselines = Baseline.objects.filter(model__engagement=engagement)
        self.fields["baseline"].queryset = baselines.select_related("model", "artifact")
        self.fields["baseline"].label_from_instance = lambda b: (
            f"{b.model.code} · {quantity_label(b.quantity)} · {b.artifact.name}")

    def clean(self):
        data = super().clean()
        definition, baseline = data.get("definition"), data.get("baseline")
        if baseline and definition and not baseline.serves(definition):
            self.add_error("baseline", _("This baseline measures %(quantity)s, which is not "
                                         "what the definition needs.")
                           % {"quantity": quantity_label(baseline.quantity)})
        if definition and data.get("threshold") is not None and not data.get("threshold_unit"):
            data["threshold"] = data["threshold"] / Decimal(scale_of(definition.unit))
        return data


class ReadySetForm(forms.Form):
    """Which model gets which ready set of thresholds."""

    model = forms.ModelChoiceField(MigratedModel.objects.none(), label=_("Model"))
    ready_set = forms.ChoiceField(choices=ReadySet, label=_("Set of thresholds"),
                                  widget=forms.RadioSelect, initial=ReadySet.OPTIMISATION)

    def __init__(self, *args, engagement: Engagement, **kwargs):
        super().__init__(*args, **kwargs)
        models = self.fields["model"].queryset = engagement.models.current()
        if len(models) == 1:
            self.fields["model"].initial = models[0]


class WaiverForm(forms.Form):
    """What its author asks a manager to take upon himself."""

    reason = forms.CharField(label=_("Reason"), widget=forms.Textarea(attrs={"rows": 2}))
    scope = forms.CharField(label=_("Scope"), max_length=240)
    expires_on = forms.DateField(label=_("Valid until"),
                                 widget=forms.DateInput(attrs={"type": "date"}))


class SignedSheetForm(forms.Form):
    """The customer's signature on paper; left empty where he confirms with his own account."""

    customer_signatory = forms.CharField(
        max_length=120, required=False, label=_("Signed for the customer by"),
        help_text=_("Name and position, as on the signed sheet."))
    signed_sheet = forms.FileField(
        required=False, label=_("Scan of the signed sheet"),
        help_text=_("PDF, PNG or JPEG. Not needed if the customer confirms with their own "
                    "account."))
