"""REST endpoints of people over all engagements. Each write is one service call."""

from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.planning.models import Absence, MarginFloor, Skill
from delivery.planning.people import capacity, work_done
from delivery.planning.serializers.people import (
    AbsenceSerializer,
    BookedSerializer,
    MarginFloorSerializer,
    PersonWeeksSerializer,
    SkillSerializer,
)
from delivery.planning.services import people as services
from engagements.access import Can, require
from engagements.web.api_pagination import WindowPagination
from engagements.web.scoped_viewset import DeclaredEndpoint, ScopedViewSet
from engagements.web.service_hooks import creating, destroying


class WeeksAskedSerializer(serializers.Serializer):
    """From which week on, this one without; `skill` is the name of one."""

    q = serializers.CharField(required=False, allow_blank=True)
    skill = serializers.CharField(required=False, allow_blank=True)
    start = serializers.DateField(required=False)


class PeriodSerializer(serializers.Serializer):
    start = serializers.DateField()
    end = serializers.DateField()


class PeopleWeekViewSet(DeclaredEndpoint, viewsets.ViewSet):
    query_parameters = ("q", "skill", "start", "page", "page_size")
    lookup_field = "username"
    lookup_value_regex = "[^/]+"

    @extend_schema(responses=PersonWeeksSerializer(many=True), parameters=[
        WeeksAskedSerializer, OpenApiParameter("page", OpenApiTypes.INT),
        OpenApiParameter("page_size", {"type": "integer", "minimum": 1})])
    def list(self, request):
        """Eight weeks of each person over all engagements: planned, booked, absent, free."""
        require(request.user, Can.VIEW_INTERNAL)
        asked = self.validated(WeeksAskedSerializer, data={
            name: value for name, value in request.query_params.items()
            if not name.startswith("page")})
        pages = WindowPagination()
        pages.page_size = 50
        people = pages.paginate_queryset(capacity.people_of_the_firm(asked), request)
        rows = capacity.weeks_of(people, asked.get("start") or timezone.localdate())
        return Response(PersonWeeksSerializer(rows, many=True).data)

    @extend_schema(responses=BookedSerializer(many=True), parameters=[
        PeriodSerializer, OpenApiParameter("username", str, OpenApiParameter.PATH)])
    @action(detail=True, query_parameters=("start", "end"))
    def work(self, request, username: str):
        """What the person booked between two dates."""
        require(request.user, Can.VIEW_INTERNAL)
        asked = self.validated(PeriodSerializer, data=request.query_params)
        person = get_object_or_404(capacity.people_of_the_firm({}), username=username)
        return Response(BookedSerializer(work_done.booked(
            request.user, person, asked["start"], asked["end"]), many=True).data)


class AbsenceViewSet(mixins.CreateModelMixin, mixins.DestroyModelMixin, ScopedViewSet):
    """Days on which people of the firm are away."""

    queryset = Absence.objects.select_related("person")
    serializer_class = AbsenceSerializer
    filterset_fields = ["person"]
    perform_create = creating(services.add_absence)
    perform_destroy = destroying(services.remove_absence, "absence")


class SkillViewSet(mixins.CreateModelMixin, mixins.DestroyModelMixin, ScopedViewSet):
    """Skills and certificates of people; a POST of the same name replaces it."""

    queryset = Skill.objects.select_related("person")
    serializer_class = SkillSerializer
    filterset_fields = ["person", "name"]
    perform_create = creating(services.set_skill)
    perform_destroy = destroying(services.remove_skill, "skill")


class MarginFloorViewSet(DeclaredEndpoint, viewsets.ViewSet):
    """The margin below which an engagement is an exception; for managers."""

    serializer_class = MarginFloorSerializer

    @extend_schema(responses=MarginFloorSerializer(many=True))
    def list(self, request):
        require(request.user, Can.MANAGE)
        return Response(MarginFloorSerializer(MarginFloor.objects.all(), many=True).data)

    @extend_schema(request=MarginFloorSerializer)
    def create(self, request):
        """Set it."""
        floor = services.set_margin_floor(
            actor=request.user, **self.validated(MarginFloorSerializer))
        return Response(MarginFloorSerializer(floor).data, status.HTTP_201_CREATED)


routes = [
    ("people-weeks", PeopleWeekViewSet, "people-week"),
    ("absences", AbsenceViewSet, "absence"),
    ("skills", SkillViewSet, "skill"),
    ("margin-floor", MarginFloorViewSet, "margin-floor"),
]
