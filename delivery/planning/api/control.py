"""REST endpoints of project control. Each write is one service call."""

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action

from delivery.planning import serializers
from delivery.planning.document_files import planning_file
from delivery.planning.models import Meeting, ProjectIssue, Risk, Todo, WeeklyReport
from delivery.planning.services import control, minutes, weekly_reports
from engagements.web.file_responses import PdfAction
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating, updating


class RiskViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin, ScopedViewSet):
    queryset = Risk.objects.select_related("engagement", "owner")
    serializer_class = serializers.RiskSerializer
    filterset_fields = ["engagement", "owner", "state"]
    perform_create = creating(control.add_risk, "seen")
    perform_update = updating(control.update_risk, "risk", "engagement")


class ProjectIssueViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin, ScopedViewSet):
    queryset = ProjectIssue.objects.select_related("engagement", "owner", "model")
    serializer_class = serializers.ProjectIssueSerializer
    filterset_fields = ["engagement", "owner", "level", "model"]
    perform_create = creating(control.add_issue, "seen")
    perform_update = updating(control.update_issue, "issue", "engagement")


class TodoViewSet(mixins.CreateModelMixin, ScopedViewSet):
    queryset = Todo.objects.select_related("engagement", "owner")
    serializer_class = serializers.TodoSerializer
    filterset_fields = ["engagement", "owner", "meeting"]
    perform_create = creating(control.add_todo)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def finish(self, request, pk=None):
        """Say that it is done."""
        control.finish_todo(actor=request.user, todo=self.get_object())
        return self.fresh()


class MeetingViewSet(PdfAction, mixins.CreateModelMixin, mixins.UpdateModelMixin, ScopedViewSet):
    render = planning_file
    queryset = Meeting.objects.prefetch_related("todos", "attachments").select_related(
        "engagement")
    serializer_class = serializers.MeetingSerializer
    filterset_fields = ["engagement"]
    perform_create = creating(control.record_meeting, "seen")
    perform_update = updating(control.update_meeting, "meeting", "engagement", "todos")

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def share(self, request, pk=None):
        """Show the minutes to the customer."""
        minutes.share_minutes(actor=request.user, meeting=self.get_object())
        return self.fresh()

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def confirm(self, request, pk=None):
        """Confirm for the customer what the minutes say."""
        minutes.confirm_minutes(actor=request.user, meeting=self.get_object())
        return self.fresh()


class WeeklyReportViewSet(PdfAction, mixins.UpdateModelMixin, ScopedViewSet):
    render = planning_file
    queryset = WeeklyReport.objects.select_related("engagement")
    serializer_class = serializers.WeeklyReportSerializer
    filterset_fields = ["engagement", "state", "week_start"]

    @extend_schema(request=serializers.WeekSerializer)
    def create(self, request):
        """Draft the report of a week from what happened in it."""
        made = weekly_reports.draft_weekly(
            actor=request.user, **self.validated(serializers.WeekSerializer))
        return self.shown(made, status.HTTP_201_CREATED)
    perform_update = updating(weekly_reports.update_weekly, "report")

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def refresh(self, request, pk=None):
        """Count the facts of a draft anew; its words stay."""
        weekly_reports.refresh_weekly(actor=request.user, report=self.get_object())
        return self.fresh()

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def freeze(self, request, pk=None):
        """Freeze words and facts."""
        weekly_reports.freeze_weekly(actor=request.user, report=self.get_object())
        return self.fresh()
