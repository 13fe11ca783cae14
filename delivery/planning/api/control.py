"""REST endpoints of project control. Each write is one service call."""

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.planning import serializers
from delivery.planning.api.visibility import Visible
from delivery.planning.document_files import planning_file
from delivery.planning.models import Meeting, ProjectIssue, Risk, Todo, WeeklyReport
from delivery.planning.services import control, weekly_reports
from engagements.web.file_responses import PdfAction


class RiskViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin, Visible):
    queryset = Risk.objects.select_related("engagement", "owner")
    serializer_class = serializers.RiskSerializer
    filterset_fields = ["engagement", "owner", "state"]

    def perform_create(self, serializer):
        serializer.instance = control.add_risk(
            actor=self.request.user, **_without(serializer, "seen"))

    def perform_update(self, serializer):
        serializer.instance = control.update_risk(
            actor=self.request.user, risk=serializer.instance,
            **_without(serializer, "engagement"))


class ProjectIssueViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin, Visible):
    queryset = ProjectIssue.objects.select_related("engagement", "owner", "model")
    serializer_class = serializers.ProjectIssueSerializer
    filterset_fields = ["engagement", "owner", "level", "model"]

    def perform_create(self, serializer):
        serializer.instance = control.add_issue(
            actor=self.request.user, **_without(serializer, "seen"))

    def perform_update(self, serializer):
        serializer.instance = control.update_issue(
            actor=self.request.user, issue=serializer.instance,
            **_without(serializer, "engagement"))


class TodoViewSet(mixins.CreateModelMixin, Visible):
    queryset = Todo.objects.select_related("engagement", "owner")
    serializer_class = serializers.TodoSerializer
    filterset_fields = ["engagement", "owner", "meeting"]

    def perform_create(self, serializer):
        serializer.instance = control.add_todo(
            actor=self.request.user, **serializer.validated_data)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def finish(self, request, pk=None):
        """Say that it is done."""
        control.finish_todo(actor=request.user, todo=self.get_object())
        return self._fresh()


class MeetingViewSet(PdfAction, mixins.CreateModelMixin, mixins.UpdateModelMixin, Visible):
    render = planning_file
    queryset = Meeting.objects.prefetch_related("todos", "attachments").select_related(
        "engagement")
    serializer_class = serializers.MeetingSerializer
    filterset_fields = ["engagement"]

    def perform_create(self, serializer):
        fields = {k: v for k, v in serializer.validated_data.items() if k != "seen"}
        serializer.instance = control.record_meeting(actor=self.request.user, **fields)

    def perform_update(self, serializer):
        """To-dos have an endpoint of their own."""
        fields = {k: v for k, v in serializer.validated_data.items()
                  if k not in ("engagement", "todos")}
        serializer.instance = control.update_meeting(
            actor=self.request.user, meeting=serializer.instance, **fields)


class WeeklyReportViewSet(PdfAction, mixins.UpdateModelMixin, Visible):
    render = planning_file
    queryset = WeeklyReport.objects.select_related("engagement")
    serializer_class = serializers.WeeklyReportSerializer
    filterset_fields = ["engagement", "state", "week_start"]

    @extend_schema(request=serializers.WeekSerializer)
    def create(self, request):
        """Draft the report of a week from what happened in it."""
        made = weekly_reports.draft_weekly(
            actor=request.user, **self._taken(serializers.WeekSerializer))
        return Response(self.get_serializer(made).data, status=status.HTTP_201_CREATED)

    def perform_update(self, serializer):
        serializer.instance = weekly_reports.update_weekly(
            actor=self.request.user, report=serializer.instance, **serializer.validated_data)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def refresh(self, request, pk=None):
        """Count the facts of a draft anew; its words stay."""
        weekly_reports.refresh_weekly(actor=request.user, report=self.get_object())
        return self._fresh()

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def freeze(self, request, pk=None):
        """Freeze words and facts."""
        weekly_reports.freeze_weekly(actor=request.user, report=self.get_object())
        return self._fresh()


def _without(serializer, name: str) -> dict:
    return {k: v for k, v in serializer.validated_data.items() if k != name}
