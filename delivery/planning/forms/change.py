from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from assessments.models import Baseline, CriteriaSet, Criterion, MetricDefinition
from delivery.planning.effort.usage import agreed_quote
from delivery.planning.forms.base import DayInput, LongSelect, short_text
from delivery.planning.forms.control import models_of
from delivery.planning.models import ChangeRequest, ScopeAction, Task
from delivery.planning.plan.task_names import named_tasks
from delivery.planning.serializers.change import (
    ChangeRequestSerializer,
    ScheduleEffectSerializer,
    ScopeEffectSerializer,
)
from delivery.planning.serializers.change_proposal import ChangeProposalSerializer
from delivery.quotes.models import PriceLine, Quote, QuoteLine, RateCard
from delivery.quotes.services.agreed_versions import Action
from engagements.models import Engagement
from engagements.stages import Stage
from engagements.web.row_form import RowForm
from toolreaders.verdicts.sentences import in_unit, scale_of
from workers.models import Artifact

COMPUTED = ("effect_on_scope", "effect_on_schedule", "effect_on_price", "effect_on_criteria")
TEXTS = ("reason", "before", "after", "effect_on_scope", "effect_on_schedule",
         "effect_on_price", "effect_on_quality", "effect_on_criteria", "measures")


def open_quotes(engagement: Engagement):
    """The quotes that a change may revise."""
    return Quote.objects.in_force().filter(engagement=engagement)


class ChangeForm(RowForm):
    serializer_class = ChangeRequestSerializer
    offered = {"quote": open_quotes}
    widgets = {**{name: short_text() for name in TEXTS}, "ends_on": DayInput()}
    help_texts = {name: _("Leave empty to generate it from the effects.") for name in COMPUTED}
    field_order = ("title", "category", "requested_by", "quote", "ends_on", *TEXTS)

    def __init__(self, *args, of: Engagement, instance=None, initial=None, **kwargs):
        if instance is None:
            customer = of.customer
            initial = {"quote": agreed_quote(of), "effect_on_quality": _("none"),
                       "requested_by": (f"{customer.localized_name} "
                                        f"{customer.localized_contact_name}").strip(),
                       **(initial or {})}
        super().__init__(*args, of=of, instance=instance, initial=initial, **kwargs)


def current_models(change: ChangeRequest):
    """The models that may be dropped, or change in scope."""
    return change.engagement.models.current()


class ScopeEffectForm(RowForm):
    serializer_class = ScopeEffectSerializer
    offered = {"model": current_models}
    widgets = {"model": LongSelect}
    help_texts = {"model": _("The model to drop, or the model whose stage changes."),
                  "stage": _("The stage to add to or remove from scope."),
                  "code": _("For a model to be added; the fields below belong to it as "
                            "well.")}

    is_priced = forms.BooleanField(label=_("Carry the person-days into the "
                                           "quote"), required=False,
                                   initial=True)

    def __init__(self, *args, of: ChangeRequest, **kwargs):
        super().__init__(*args, of=of, **kwargs)
        if of.quote_id is None:
            del self.fields["is_priced"]


class ScheduleEffectForm(RowForm):
    serializer_class = ScheduleEffectSerializer
    offered = {"task": lambda engagement: Task.objects.filter(plan__engagement=engagement)}
    widgets = {"task": LongSelect}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        tasks = self.fields["task"]
        tasks.choices = [("", "---------"), *named_tasks(tasks.queryset)]


class PriceEffectForm(forms.Form):
    """One line: what happens to it, and what differs; the rest stays as it is."""

    action = forms.ChoiceField(label=_("Type of change"), choices=Action.choices,
                               initial=Action.CHANGE)
    line = forms.ModelChoiceField(None, label=_("Line of the quote"), required=False,
                                  widget=LongSelect,
                                  help_text=_("The line to change or remove."))
    price = forms.ModelChoiceField(None, label=_("Item of the price list"), required=False,
                                   help_text=_("The item to add."))
    quantity = forms.DecimalField(label=_("Quantity after"), decimal_places=2, max_digits=12,
                                  required=False)
    months = forms.DecimalField(label=_("Months after"), decimal_places=2, max_digits=6,
                                required=False)
    unit_price = forms.DecimalField(label=_("Unit price after"), decimal_places=4, max_digits=16,
                                    required=False, help_text=_("Leave empty to keep the price."))

    def __init__(self, *args, change: ChangeRequest, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["line"].queryset = QuoteLine.objects.filter(quote=change.quote_id)
        self.fields["price"].queryset = PriceLine.objects.exclude(unit_price=None).filter(
            card__in=RateCard.objects.valid_on(timezone.localdate()))


class AddedCriterionForm(forms.Form):
    """A criterion that comes in; its threshold is entered in the unit of the definition."""

    code = forms.ChoiceField(label=_("Model"), widget=LongSelect)
    stage = forms.ChoiceField(label=_("Stage"), choices=Stage, initial=Stage.INFER_TUNE)
    definition = forms.ModelChoiceField(MetricDefinition.objects.all(),
                                        label=_("Metric definition"))
    threshold = forms.DecimalField(
        label=_("Threshold"), max_digits=24, decimal_places=10,
        help_text=_("In the unit of the definition: enter 2 for 2 %."))
    baseline = forms.ModelChoiceField(None, label=_("Baseline"), required=False,
                                      help_text=_("Baseline of a model in this engagement."))
    artifact = forms.ModelChoiceField(
        None, label=_("File of the baseline"), required=False, widget=LongSelect,
        help_text=_("For a model to be added: upload the file to the engagement first."))

    def __init__(self, *args, change: ChangeRequest, **kwargs):
        super().__init__(*args, **kwargs)
        engagement, fields = change.engagement, self.fields
        coming = change.scope_effects.filter(action=ScopeAction.ADD_MODEL)
        fields["code"].choices = [(row.code, str(row)) for row in coming] + [
            (model.code, str(model)) for model in engagement.models.current()]
        fields["definition"].label_from_instance = lambda d: (
            f"{d.localized_name} {d.get_comparison_display()} … {d.unit}")
        fields["baseline"].queryset = Baseline.objects.filter(
            model__engagement=engagement).select_related("model", "artifact")
        fields["artifact"].queryset = Artifact.objects.filter(
            engagement=engagement, job=None).exclude(readings=None).distinct()

    def clean(self):
        data = super().clean()
        definition, threshold = data.get("definition"), data.get("threshold")
        if definition and threshold is not None:
            data["threshold"] = threshold / scale_of(definition.unit)
        return data


class CriterionEffectForm(forms.Form):
    """A new threshold, entered in the unit of the definition."""

    criterion = forms.ModelChoiceField(None, label=_("Criterion"), widget=LongSelect)
    threshold_after = forms.DecimalField(
        label=_("Threshold after"), max_digits=24, decimal_places=10,
        help_text=_("In the unit of the definition: enter 2 for 2 %."))

    def __init__(self, *args, engagement: Engagement, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["criterion"].queryset = Criterion.objects.filter(
            criteria_set__engagement=engagement,
            criteria_set__state=CriteriaSet.State.SIGNED).select_related("model", "definition")
        self.fields["criterion"].label_from_instance = lambda c: (
            f"{c} · {in_unit(c.threshold, c.definition.unit)}")

    def clean(self):
        data = super().clean()
        criterion, threshold = data.get("criterion"), data.get("threshold_after")
        if criterion and threshold is not None:
            data["threshold_after"] = threshold / scale_of(criterion.definition.unit)
        return data


class ChangeProposalForm(RowForm):
    """What a person of the customer writes: no price, no field of the firm."""

    serializer_class = ChangeProposalSerializer
    offered = {"model": models_of}
    widgets = {"description": short_text(4), "reason": short_text(3), "wanted_by": DayInput()}
