"""Forms of metric definitions."""

from django import forms
from django.utils.translation import gettext_lazy as _

from assessments.definitions.versions import CHANGEABLE, CURVE_RULE, Sample
from assessments.models import MetricDefinition
from assessments.presentation.definition_preview import FIGURES, PAIRS

JUDGED = [entry for entry in FIGURES if entry[0] != "signed_mean"] + [
    ("mean_absolute_error", _("Mean absolute error"))]


class PreviewForm(forms.Form):
    """A definition to try on a sample pair of curves; nothing is stored."""

    pair = forms.ChoiceField(label=_("Sample pair"), choices=[(k, v[0]) for k, v in PAIRS.items()])
    figure = forms.ChoiceField(label=_("judged figure"), choices=FIGURES)
    comparison = forms.ChoiceField(label=_("Comparison"),
                                   choices=MetricDefinition.Comparison.choices)
    threshold = forms.DecimalField(label=_("Threshold in per cent"), min_value=0, max_value=1000,
                                   decimal_places=6, initial=2)
    first_step = forms.IntegerField(label=_("window from step"), min_value=1, required=False)
    last_step = forms.IntegerField(label=_("window to step"), min_value=1, required=False)
    epsilon = forms.FloatField(label=_("near-zero guard ε"), min_value=0, initial=0)


class VersionForm(forms.ModelForm):
    """A new version that starts from an older one; its service checks what it is given."""

    change_note = forms.CharField(label=_("Reason for this version"), max_length=240)

    class Meta:
        model = MetricDefinition
        fields = CHANGEABLE
        labels = {"formula_en": _("Formula (English)"), "alignment_en": _("Alignment (English)")}
        widgets = {"formula": forms.Textarea(attrs={"rows": 2}),
                   "formula_en": forms.Textarea(attrs={"rows": 2})}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if self.instance.calculator == MetricDefinition.Calculator.LOSS_CURVE:
            self.fields["figure"] = forms.ChoiceField(
                label=_("Judged figure"), choices=JUDGED, initial=self.instance.figure)
        else:
            for name in CURVE_RULE:
                del self.fields[name]
        self.order_fields(["change_note", *CHANGEABLE])

    def _post_clean(self) -> None:
        """Nothing is written into the old version, not even in memory."""


class SampleForm(forms.Form):
    """What both versions are tried on; nothing is stored."""

    sample_threshold = forms.DecimalField(
        label=_("Threshold of the sample"), max_digits=24, decimal_places=10, initial=2,
        help_text=_("In the unit of the definition."))
    sample_pair = forms.ChoiceField(label=_("Sample pair"), initial="halves",
                                    choices=[(k, v[0]) for k, v in PAIRS.items()])
    sample_baseline = forms.FloatField(label=_("Baseline value"), initial=100)
    sample_candidate = forms.FloatField(label=_("Measured value"), initial=98)
    sample_cards = forms.IntegerField(label=_("Cards"), min_value=1, initial=8)

    def __init__(self, *args, definition: MetricDefinition, **kwargs):
        super().__init__(*args, **kwargs)
        calculator = MetricDefinition.Calculator
        is_curve = definition.calculator == calculator.LOSS_CURVE
        unused = {
            "sample_pair": not is_curve, "sample_candidate": is_curve,
            "sample_baseline": is_curve or definition.calculator == calculator.VALUE,
            "sample_cards": definition.calculator != calculator.SCALING}
        for name in (name for name, is_unused in unused.items() if is_unused):
            del self.fields[name]

    def sample(self) -> Sample:
        """What was entered; call it once the form is valid."""
        return Sample(**{name.removeprefix("sample_"): value
                         for name, value in self.cleaned_data.items()})
