"""REST endpoints of effort and time. Each write is one service call."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.planning import queries
from delivery.planning.document_files import planning_file
from delivery.planning.effort import calibration, usage
from delivery.planning.models import EffortEstimate, GradeCost, TimeEntry, Timesheet
from delivery.planning.plan.working_days import monday_of
from delivery.planning.serializers.change import RejectionSerializer
from delivery.planning.serializers.effort import (
    AdjustSerializer,
    EffortEstimateSerializer,
    NewLineSerializer,
    TimeCorrectionSerializer,
    TimeEntrySerializer,
    TimesheetAnswerSerializer,
    TimesheetSerializer,
)
from delivery.planning.serializers.usage import (
    CalibrationSerializer,
    CopiedSerializer,
    EstimateTotalsSerializer,
    GradeCostSerializer,
    UsageSerializer,
    WeekCopySerializer,
)
from delivery.planning.services import estimates, quoting, time_entries, timesheets, week_time
from delivery.quotes.serializers import QuoteDetailSerializer
from engagements.access import Can, allowed, require
from engagements.models import Engagement
from engagements.web.api_pagination import FewPerPage
from engagements.web.file_responses import PdfAction
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import DeclaredEndpoint, ScopedViewSet
from engagements.web.service_hooks import creating, destroying


class EffortEstimateViewSet(mixins.CreateModelMixin, ScopedViewSet):
    queryset = EffortEstimate.objects.prefetch_related("lines")
    serializer_class = EffortEstimateSerializer
    pagination_class = FewPerPage  # each with all its lines
    filterset_fields = ["engagement", "state"]
    perform_create = creating(estimates.draft_estimate)
    lines = RowAction(estimates.add_effort_line, "estimate",
                      "Add a line that the rules do not give, with the reason.",
                      NewLineSerializer)
    approve = RowAction(estimates.approve_estimate, "estimate", "Freeze the draft.")

    @extend_schema(responses=EstimateTotalsSerializer)
    @action(detail=True)
    def totals(self, request, pk=None):
        """Days by grade and by stage."""
        estimate = self.get_object()
        return Response(EstimateTotalsSerializer({
            f"by_{by}": queries.totals(estimate, by) for by in ("grade", "stage")}).data)

    @extend_schema(responses=CalibrationSerializer(many=True), filters=False)
    @action(detail=False, pagination_class=None)
    def calibration(self, request):
        """Estimated against worked days, by item type."""
        require(request.user, Can.VIEW_INTERNAL)
        return Response(CalibrationSerializer(
            calibration.comparison(), many=True).data)

    @extend_schema(request=AdjustSerializer)
    @action(detail=True, methods=["post"])
    def adjust(self, request, pk=None):
        """Replace the days of a line, with the reason."""
        fields = self.validated(AdjustSerializer)
        line = get_object_or_404(self.get_object().lines, pk=fields.pop("line"))
        estimates.adjust_line(actor=request.user, line=line, **fields)
        return self.fresh()

    @extend_schema(request=None, responses={201: QuoteDetailSerializer})
    @action(detail=True, methods=["post"])
    def quote(self, request, pk=None):
        """A draft quote with the days of the engagement's current estimate."""
        made = quoting.quote_estimate(actor=request.user, engagement=self.get_object().engagement)
        return Response(QuoteDetailSerializer(made, context=self.get_serializer_context()).data,
                        status=status.HTTP_201_CREATED)


class TimeEntryViewSet(mixins.CreateModelMixin, mixins.DestroyModelMixin, ScopedViewSet):
    queryset = TimeEntry.objects.select_related("engagement", "person")
    serializer_class = TimeEntrySerializer
    filterset_fields = ["engagement", "person", "work_date", "grade", "item"]
    perform_create = creating(time_entries.record_time)
    perform_destroy = destroying(time_entries.remove_time, "entry")
    correct = RowAction(time_entries.correct_time, "entry",
                        "A new entry in place of a confirmed one.", TimeCorrectionSerializer,
                        answers=TimeEntrySerializer, code=status.HTTP_201_CREATED)

    @extend_schema(responses=UsageSerializer, filters=False, parameters=[
        OpenApiParameter("engagement", str, required=True, description="project code")])
    @action(detail=False, pagination_class=None, query_parameters=("engagement",))
    def usage(self, request):
        """Quoted, planned and used days by grade; for managers also the margin."""
        require(request.user, Can.VIEW_INTERNAL)
        engagement = get_object_or_404(Engagement.objects.visible_to(request.user),
                                       code=request.query_params.get("engagement"))
        is_manager = allowed(request.user, Can.MANAGE)
        return Response(UsageSerializer({
            "grades": usage.days_by_grade(engagement),
            "margin": usage.margin(engagement) if is_manager else None}).data)

    @extend_schema(request=WeekCopySerializer, responses=CopiedSerializer, filters=False)
    @action(detail=False, methods=["post"], url_path="copy-week", pagination_class=None,
            query_parameters=())
    def copy_week(self, request):
        """Book your empty half-days of a week as those of the week before."""
        asked = self.validated(WeekCopySerializer)
        return Response({"copied": week_time.copy_week(
            actor=request.user, monday=monday_of(asked["day"]))})


class GradeCostViewSet(DeclaredEndpoint, viewsets.ViewSet):
    """What a person-day of each grade costs the firm; for managers."""

    serializer_class = GradeCostSerializer

    @extend_schema(responses=GradeCostSerializer(many=True))
    def list(self, request):
        require(request.user, Can.MANAGE)
        return Response(GradeCostSerializer(GradeCost.objects.all(), many=True).data)

    @extend_schema(request=GradeCostSerializer)
    def create(self, request):
        """Set the cost of a grade from a day on; without one from today."""
        require(request.user, Can.MANAGE)
        cost = time_entries.set_grade_cost(
            actor=request.user, **self.validated(GradeCostSerializer))
        return Response(GradeCostSerializer(cost).data,
                        status=status.HTTP_201_CREATED)


class TimesheetViewSet(PdfAction, mixins.CreateModelMixin, ScopedViewSet):
    """A month's time: a manager confirms it for the firm, the customer answers."""

    render = planning_file

    queryset = Timesheet.objects.select_related("engagement")
    serializer_class = TimesheetSerializer
    filterset_fields = ["engagement", "month", "state"]
    perform_create = creating(timesheets.confirm_month)
    answer = RowAction(timesheets.answer_timesheet, "timesheet",
                       "The customer confirms, or rejects with a reason.",
                       TimesheetAnswerSerializer)
    withdraw = RowAction(timesheets.withdraw_timesheet, "timesheet",
                         "The firm takes an unanswered timesheet back, with the reason.",
                         RejectionSerializer)
