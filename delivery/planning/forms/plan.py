from django import forms
from django.forms import formset_factory
from django.utils.translation import gettext_lazy as _

from assessments.labels.environments import item_label
from delivery.planning.forms.base import DayInput, LongSelect
from delivery.planning.forms.control import everybody_on_the_team, models_of
from delivery.planning.models import Milestone, Plan, Task
from delivery.planning.models.plan import LONGEST_TASK
from delivery.planning.models.planned_version import LONGEST
from delivery.planning.plan.planned_items import ITEMS
from delivery.planning.serializers.plan import TaskSerializer
from engagements.web.row_form import RowForm


class StartForm(forms.Form):
    starts_on = forms.DateField(label=_("Start date"), widget=DayInput())


class TaskForm(RowForm):
    serializer_class = TaskSerializer
    left_out = ("plan",)
    offered = {"model": lambda plan: models_of(plan.engagement),
               "owner": lambda plan: everybody_on_the_team(plan.engagement)}
    widgets = {"not_before": DayInput(), "started_on": DayInput(), "finished_on": DayInput()}
    field_order = ("title", "title_en")


class LinkForm(forms.Form):
    before = forms.ModelChoiceField(None, label=_("Starts after"), widget=LongSelect)
    lag = forms.IntegerField(label=_("Lag (working days)"), min_value=0, max_value=LONGEST_TASK,
                             initial=0)

    def __init__(self, *args, task: Task, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["before"].queryset = task.plan.tasks.exclude(pk=task.pk).select_related(
            "model")


class PlannedVersionsForm(forms.Form):
    """One field per item of the target environment."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for item in ITEMS:
            self.fields[item] = forms.CharField(label=item_label(item), required=False,
                                                max_length=LONGEST)
        self.fields[ITEMS[0]].help_text = _(
            "Reports compare these values with what probes measure. An empty item is taken from "
            "the survey's answers about the target.")


class MilestoneForm(forms.Form):
    name = forms.CharField(label=_("Milestone"), max_length=80)
    name_en = forms.CharField(label=_("English name"), max_length=80, required=False)
    percent = forms.DecimalField(label=_("Payment (%)"), min_value=0, max_value=100,
                                 decimal_places=2)
    # With an empty choice, so that an untouched row of the sheet counts as empty.
    trigger = forms.ChoiceField(label=_("Trigger document"),
                                choices=[("", "--"), *Milestone.Trigger.choices])
    task = forms.ModelChoiceField(None, label=_("Linked task"), required=False,
                                  widget=LongSelect)

    def __init__(self, *args, plan: Plan, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["task"].queryset = plan.tasks.select_related("model")


MilestoneSheet = formset_factory(MilestoneForm, extra=3, max_num=12, can_delete=True)
