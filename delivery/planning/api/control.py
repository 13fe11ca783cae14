"""REST endpoints of project control. Each write is one service call."""

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status

from delivery.planning.document_files import planning_file
from delivery.planning.models import Meeting, ProjectIssue, Risk, Todo, WeeklyReport
from delivery.planning.serializers.change import RejectionSerializer
from delivery.planning.serializers.control import (
    MeetingSerializer,
    ProjectIssueSerializer,
    RiskSerializer,
    TodoSerializer,
    WeeklyReportSerializer,
    WeekSerializer,
)
from delivery.planning.services import control, minutes, weekly_reports
from engagements.web.file_responses import PdfAction
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating, updating


class RiskViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin, ScopedViewSet):
    queryset = Risk.objects.select_related("engagement", "owner")
    serializer_class = RiskSerializer
    filterset_fields = ["engagement", "owner", "state"]
    perform_create = creating(control.add_risk, "seen")
    perform_update = updating(control.update_risk, "risk", "engagement")


class ProjectIssueViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin, ScopedViewSet):
    queryset = ProjectIssue.objects.select_related("engagement", "owner", "model")
    serializer_class = ProjectIssueSerializer
    filterset_fields = ["engagement", "owner", "level", "model"]
    perform_create = creating(control.add_issue, "seen")
    perform_update = updating(control.update_issue, "issue", "engagement")


class TodoViewSet(mixins.CreateModelMixin, ScopedViewSet):
    queryset = Todo.objects.select_related("engagement", "owner")
    serializer_class = TodoSerializer
    filterset_fields = ["engagement", "owner", "meeting"]
    perform_create = creating(control.add_todo)
    finish = RowAction(control.finish_todo, "todo", "Say that it is done.")


class MeetingViewSet(PdfAction, mixins.CreateModelMixin, mixins.UpdateModelMixin, ScopedViewSet):
    render = planning_file
    queryset = Meeting.objects.prefetch_related("todos", "attachments").select_related(
        "engagement")
    serializer_class = MeetingSerializer
    filterset_fields = ["engagement"]
    perform_create = creating(control.record_meeting, "seen")
    perform_update = updating(control.update_meeting, "meeting", "engagement", "todos")
    share = RowAction(minutes.share_minutes, "meeting", "Show the minutes to the customer.")
    confirm = RowAction(minutes.confirm_minutes, "meeting",
                        "Confirm for the customer what the minutes say.")


class WeeklyReportViewSet(PdfAction, mixins.UpdateModelMixin, ScopedViewSet):
    render = planning_file
    queryset = WeeklyReport.objects.select_related("engagement")
    serializer_class = WeeklyReportSerializer
    filterset_fields = ["engagement", "state", "week_start"]
    perform_update = updating(weekly_reports.update_weekly, "report")
    refresh = RowAction(weekly_reports.refresh_weekly, "report",
                        "Count the facts of a draft anew; its words stay.")
    freeze = RowAction(weekly_reports.freeze_weekly, "report", "Freeze words and facts.")
    correct = RowAction(weekly_reports.correct_weekly, "report",
                        "Draft the next version of a frozen report.", RejectionSerializer)

    @extend_schema(request=WeekSerializer)
    def create(self, request):
        """Draft the report of a week from what happened in it."""
        made = weekly_reports.draft_weekly(actor=request.user, **self.validated(WeekSerializer))
        return self.shown(made, status.HTTP_201_CREATED)
