"""REST endpoints of the routes of unsupported and unknown APIs."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.response import Response

from engagements.models import MigratedModel
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.visible_field import VisibleField
from workers.models import ApiRoute
from workers.services.api_routes import record_routes
from workers.unresolved_apis import ApiClass, found_apis


class ApiRouteSerializer(serializers.ModelSerializer):
    class Meta:
        model = ApiRoute
        fields = ["id", "model", "api", "route", "reason", "link", "answered_on",
                  "decided_by", "decided_at"]


class RecordRoutesSerializer(serializers.Serializer):
    model = VisibleField(queryset=MigratedModel.objects.all())
    apis = serializers.ListField(child=serializers.CharField(max_length=240), allow_empty=False)
    route = serializers.ChoiceField(choices=ApiRoute.Route.choices)
    reason = serializers.CharField(max_length=240)
    link = serializers.CharField(max_length=240, required=False)  # the service asks for http(s)
    answered_on = serializers.DateField(required=False, allow_null=True)


class FoundApiSerializer(serializers.Serializer):
    """`uses` is a lower bound; `route` is null while none is recorded."""

    api = serializers.CharField()
    kind = serializers.ChoiceField(choices=ApiClass.choices)
    uses = serializers.IntegerField()
    place = serializers.CharField()
    artifacts = serializers.ListField(child=serializers.IntegerField())
    route = ApiRouteSerializer(allow_null=True)


class ModelSerializer(serializers.Serializer):
    model = VisibleField(queryset=MigratedModel.objects.all())


class ApiRouteViewSet(ScopedViewSet):
    """Decisions on APIs, newest first; the newest of an API is in force."""

    queryset = ApiRoute.objects.all()
    serializer_class = ApiRouteSerializer
    filterset_fields = ["model", "model__engagement", "api", "route"]

    @extend_schema(request=RecordRoutesSerializer,
                   responses={201: ApiRouteSerializer(many=True)})
    def create(self, request):
        """Record one route for several APIs of a model."""
        rows = record_routes(actor=request.user, **self.validated(RecordRoutesSerializer))
        return Response(ApiRouteSerializer(rows, many=True).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses=FoundApiSerializer(many=True), filters=False,
                   parameters=[OpenApiParameter("model", int, required=True)])
    @action(detail=False, filterset_fields=[], pagination_class=None,
            query_parameters=("model",))
    def found(self, request):
        """What the analyses of a model call unsupported or unknown, with the route in force."""
        model = self.validated(ModelSerializer, data=request.query_params)["model"]
        return Response(FoundApiSerializer(found_apis(model), many=True).data)


routes = [("api-routes", ApiRouteViewSet, "api-route")]
