"""REST endpoints of the firm's own calendar."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status, viewsets
from rest_framework.decorators import action
from rest_framework.generics import get_object_or_404
from rest_framework.response import Response

from delivery.planning.models import CalendarDay
from delivery.planning.plan.working_days import calendar_years, firm_days
from delivery.planning.serializers.calendar_day import (
    CalendarDaySerializer,
    CalendarDaysSerializer,
    CalendarYearSerializer,
)
from delivery.planning.services import calendar_days
from engagements.access import Can, require
from engagements.web.scoped_viewset import DeclaredEndpoint


class CalendarDayViewSet(DeclaredEndpoint, viewsets.ViewSet):
    """Make-up working days and holidays that the firm counts otherwise than the package does."""

    serializer_class = CalendarDaySerializer
    queryset = CalendarDay.objects.all()

    @extend_schema(responses=CalendarDaySerializer(many=True))
    def list(self, request):
        require(request.user, Can.VIEW_INTERNAL)
        return Response(CalendarDaySerializer(
            self.queryset.all(), many=True).data)

    @extend_schema(request=CalendarDaysSerializer,
                   responses={201: CalendarDaySerializer(many=True)})
    def create(self, request):
        """Count days as worked or free; those in the table get the new entry."""
        require(request.user, Can.MANAGE)
        days = calendar_days.set_calendar_days(
            actor=request.user, **self.validated(CalendarDaysSerializer))
        return Response(CalendarDaySerializer(days, many=True).data,
                        status=status.HTTP_201_CREATED)

    def destroy(self, request, pk: int):
        """Count the day as the package does again."""
        require(request.user, Can.MANAGE)
        calendar_days.remove_calendar_day(
            actor=request.user, day=get_object_or_404(self.queryset, pk=pk))
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(responses=CalendarYearSerializer(many=True))
    @action(detail=False)
    def years(self, request):
        """What the working days of each year follow from, this year and those near it first."""
        require(request.user, Can.VIEW_INTERNAL)
        return Response(CalendarYearSerializer(
            calendar_years(timezone.localdate().year, firm_days()), many=True).data)
