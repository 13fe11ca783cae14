"""REST doors of effort and time. Each write is one service call."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.planning import papers, serializers
from delivery.planning.api_parts.base import Visible
from delivery.planning.api_parts.files import Paper
from delivery.planning.models import EffortEstimate, TimeEntry, Timesheet
from delivery.planning.services import effort, pricing, time, timesheets
from delivery.quotes.serializers import QuoteDetailSerializer


class EffortEstimateViewSet(mixins.CreateModelMixin, Visible):
    queryset = EffortEstimate.objects.prefetch_related("lines")
    serializer_class = serializers.EffortEstimateSerializer
    filterset_fields = ["engagement", "state"]

    def perform_create(self, serializer):
        serializer.instance = effort.draft_estimate(
            actor=self.request.user, **serializer.validated_data)

    @extend_schema(request=serializers.AdjustSerializer)
    @action(detail=True, methods=["post"])
    def adjust(self, request, pk=None):
        """Replace the days of a line, with the reason."""
        fields = self._taken(serializers.AdjustSerializer)
        line = get_object_or_404(self.get_object().lines, pk=fields.pop("line"))
        effort.adjust_line(actor=request.user, line=line, **fields)
        return self._fresh()

    @extend_schema(request=serializers.NewLineSerializer)
    @action(detail=True, methods=["post"])
    def lines(self, request, pk=None):
        """Add a line that the rules do not give, with the reason."""
        effort.add_effort_line(actor=request.user, estimate=self.get_object(),
                               **self._taken(serializers.NewLineSerializer))
        return self._fresh()

    @extend_schema(request=None, responses={201: QuoteDetailSerializer})
    @action(detail=True, methods=["post"])
    def quote(self, request, pk=None):
        """A draft quote with the days of the engagement's current estimate."""
        made = pricing.quote_estimate(actor=request.user, engagement=self.get_object().engagement)
        return Response(QuoteDetailSerializer(made, context=self.get_serializer_context()).data,
                        status=status.HTTP_201_CREATED)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def approve(self, request, pk=None):
        """Freeze the draft."""
        effort.approve_estimate(actor=request.user, estimate=self.get_object())
        return self._fresh()


class TimeEntryViewSet(mixins.CreateModelMixin, mixins.DestroyModelMixin, Visible):
    queryset = TimeEntry.objects.select_related("engagement", "person")
    serializer_class = serializers.TimeEntrySerializer
    filterset_fields = ["engagement", "person", "work_date", "grade", "item"]

    def perform_create(self, serializer):
        serializer.instance = time.record_time(
            actor=self.request.user, **serializer.validated_data)

    def perform_destroy(self, instance):
        time.remove_time(actor=self.request.user, entry=instance)

    @extend_schema(request=serializers.TimeCorrectionSerializer,
                   responses={201: serializers.TimeEntrySerializer})
    @action(detail=True, methods=["post"])
    def correct(self, request, pk=None):
        """A new entry in place of a confirmed one."""
        made = time.correct_time(actor=request.user, entry=self.get_object(),
                                 **self._taken(serializers.TimeCorrectionSerializer))
        return Response(self.get_serializer(made).data, status=status.HTTP_201_CREATED)


class TimesheetViewSet(Paper, mixins.CreateModelMixin, Visible):
    render = papers.timesheet_pdf
    """A month's time: a manager confirms it for the firm, the customer answers."""

    queryset = Timesheet.objects.select_related("engagement")
    serializer_class = serializers.TimesheetSerializer
    filterset_fields = ["engagement", "month", "state"]

    def perform_create(self, serializer):
        serializer.instance = timesheets.confirm_month(
            actor=self.request.user, **serializer.validated_data)

    @extend_schema(request=serializers.TimesheetAnswerSerializer)
    @action(detail=True, methods=["post"])
    def answer(self, request, pk=None):
        """The customer confirms, or rejects with a reason."""
        timesheets.answer_timesheet(actor=request.user, timesheet=self.get_object(),
                                    **self._taken(serializers.TimesheetAnswerSerializer))
        return self._fresh()

    @extend_schema(request=serializers.RejectionSerializer)
    @action(detail=True, methods=["post"])
    def withdraw(self, request, pk=None):
        """The firm takes an unanswered timesheet back, with the reason."""
        timesheets.withdraw_timesheet(actor=request.user, timesheet=self.get_object(),
                                      **self._taken(serializers.RejectionSerializer))
        return self._fresh()
