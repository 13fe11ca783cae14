"""REST endpoints of plans. Each write is one service call."""

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.planning.api.plan_files import PlanWorkbook
from delivery.planning.models import Dependency, Plan, PlannedVersion, Task
from delivery.planning.plan.task_dates import schedule
from delivery.planning.serializers.plan import (
    DependencySerializer,
    MilestoneSerializer,
    PlanBaselineSerializer,
    PlannedVersionSerializer,
    PlanSerializer,
    ScheduledSerializer,
    TaskSerializer,
)
from delivery.planning.services import plans
from delivery.planning.services.planned_versions import set_planned_versions
from engagements.models.visibility import in_engagements_of
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating, destroying, updating


class PlanViewSet(PlanWorkbook, mixins.CreateModelMixin, ScopedViewSet):
    queryset = Plan.objects.prefetch_related("milestones").order_by("pk")
    serializer_class = PlanSerializer
    filterset_fields = ["engagement"]
    perform_create = creating(plans.draft_plan)
    baseline = RowAction(plans.take_baseline, "plan", "Keep the computed dates as agreed.",
                         PlanBaselineSerializer, answers=PlanBaselineSerializer)

    @extend_schema(responses=ScheduledSerializer(many=True))
    @action(detail=True, pagination_class=None, filterset_fields=None)
    def schedule(self, request, pk=None):
        """Computed dates of all tasks, with slack and baseline."""
        rows = schedule(self.get_object())
        return Response(ScheduledSerializer(rows, many=True).data)

    @extend_schema(request=MilestoneSerializer(many=True))
    @action(detail=True, methods=["put"])
    def milestones(self, request, pk=None):
        """Replace all milestones; their percentages add up to exactly 100."""
        plans.set_milestones(actor=request.user, plan=self.get_object(),
                             rows=self.validated(MilestoneSerializer, many=True))
        return self.fresh()


class TaskViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin, mixins.DestroyModelMixin,
                  ScopedViewSet):
    queryset = Task.objects.select_related("plan__engagement", "model").prefetch_related(
        "precursors")
    serializer_class = TaskSerializer
    filterset_fields = ["plan", "model", "stage", "owner"]
    perform_create = creating(plans.add_task, "seen")
    perform_update = updating(plans.update_task, "task", "plan")
    perform_destroy = destroying(plans.remove_task, "task")


class PlannedVersionViewSet(mixins.CreateModelMixin, mixins.DestroyModelMixin, ScopedViewSet):
    """Planned items of the target environment; POST plans one, or plans it anew."""

    queryset = PlannedVersion.objects.select_related("engagement", "set_by")
    serializer_class = PlannedVersionSerializer
    filterset_fields = ["engagement", "item"]

    def perform_create(self, serializer):
        fields = serializer.validated_data
        rows = set_planned_versions(actor=self.request.user, engagement=fields["engagement"],
                                    versions={fields["item"]: fields["value"]})
        serializer.instance = next(row for row in rows if row.item == fields["item"])

    def perform_destroy(self, instance):
        set_planned_versions(actor=self.request.user, engagement=instance.engagement,
                             versions={instance.item: ""})


class DependencyViewSet(mixins.CreateModelMixin, mixins.DestroyModelMixin,
                        viewsets.ReadOnlyModelViewSet):
    queryset = Dependency.objects.select_related("after__plan__engagement")
    serializer_class = DependencySerializer
    filterset_fields = ["before", "after", "after__plan"]

    def get_queryset(self):
        return super().get_queryset().filter(
            in_engagements_of(self.request.user, "after__plan__engagement"))
    perform_create = creating(plans.link_tasks)
    perform_destroy = destroying(plans.unlink_tasks, "link")
