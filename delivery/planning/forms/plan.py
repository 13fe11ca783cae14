from django import forms
from django.forms import formset_factory
from django.utils.translation import gettext_lazy as _

from assessments.labels.environments import item_label
from delivery.planning.forms.base import DayInput, LongSelect
from delivery.planning.forms.control import everybody_on_the_team, models_of
from delivery.planning.models.planned_version import LONGEST
from delivery.planning.plan.planned_items import ITEMS
from delivery.planning.serializers.plan import (
    DependencySerializer,
    MilestoneSerializer,
    TaskSerializer,
)
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


class LinkForm(RowForm):
    serializer_class = DependencySerializer
    left_out = ("after",)
    offered = {"before": lambda task: task.plan.tasks.exclude(pk=task.pk).select_related("model")}
    widgets = {"before": LongSelect}
    labels = {"before": _("Starts after")}


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


class MilestoneForm(RowForm):
    serializer_class = MilestoneSerializer
    offered = {"task": lambda plan: plan.tasks.select_related("model")}
    widgets = {"task": LongSelect}


MilestoneSheet = formset_factory(MilestoneForm, extra=3, max_num=12, can_delete=True)
