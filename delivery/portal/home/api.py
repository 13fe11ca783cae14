"""The manager's exceptions as a REST endpoint."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, viewsets
from rest_framework.response import Response

from delivery.portal.home.exceptions import exceptions_of
from engagements.access import Can, require
from engagements.web.scoped_viewset import DeclaredEndpoint


class ExceptionAskedSerializer(serializers.Serializer):
    """`everything`: of all engagements that you see, not only of those that you manage."""

    everything = serializers.BooleanField(default=False)


class ExceptionalSerializer(serializers.Serializer):
    """`level` 0 is past its day or limit, 1 failed, 2 near its day; `days` past the day that
    matters, negative until then. `person` is empty where nobody knows who has the next move."""

    kind = serializers.CharField()
    label = serializers.CharField()
    level = serializers.IntegerField()
    engagement = serializers.CharField()
    sentence = serializers.CharField()
    person = serializers.CharField()
    days = serializers.IntegerField()
    url = serializers.CharField()


class ExceptionViewSet(DeclaredEndpoint, viewsets.ViewSet):
    query_parameters = ("everything",)

    @extend_schema(responses=ExceptionalSerializer(many=True),
                   parameters=[ExceptionAskedSerializer])
    def list(self, request):
        """What a manager has to look at, with the reason and whose turn it is: worst first. Of the
        200 engagements that end first, where there are more."""
        require(request.user, Can.VIEW_INTERNAL)
        asked = self.validated(ExceptionAskedSerializer, data=request.query_params)
        return Response(ExceptionalSerializer(exceptions_of(
            request.user, is_everything=asked["everything"]).rows, many=True).data)


routes = [("exceptions", ExceptionViewSet, "exception")]
