"""REST endpoint of the separation of duties."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from engagements import duties, services
from engagements.access import Can, require
from engagements.web.scoped_viewset import DeclaredEndpoint

CODE = [OpenApiParameter("code", OpenApiTypes.STR, OpenApiParameter.PATH)]


class DutySerializer(serializers.Serializer):
    """How many people write, review and approve a kind of object."""

    code = serializers.CharField(read_only=True)
    title = serializers.CharField(read_only=True)
    people = serializers.ChoiceField(duties.People.choices)


class DutyViewSet(DeclaredEndpoint, ViewSet):
    """Separation of duties by kind; administrators set it."""

    lookup_field = "code"

    @extend_schema(responses=DutySerializer(many=True), operation_id="duties_list")
    def list(self, request):
        require(request.user, Can.VIEW_INTERNAL)
        return Response([_shown(rule) for rule in duties.settable_rules()])

    @extend_schema(parameters=CODE, request=DutySerializer, responses=DutySerializer)
    def update(self, request, code: str):
        services.set_people(actor=request.user, kind=code, **self.validated(DutySerializer))
        return Response(next(_shown(rule) for rule in duties.settable_rules()
                             if rule.code == code))


def _shown(rule: duties.DutyRule) -> dict:
    return {"code": rule.code, "title": str(rule.title), "people": duties.people_of(rule)}


routes = [("duties", DutyViewSet, "duty")]
