"""REST endpoints of runtimes and of which jobs get them. Each write is one service call."""

from drf_spectacular.utils import extend_schema
from rest_framework import mixins
from rest_framework.decorators import action

from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating, destroying
from workers.api import serializers
from workers.models import Runtime, RuntimeChoice
from workers.services import runtimes


class RuntimeViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin, ScopedViewSet):
    """Runtimes of jobs. Jobs that are queued keep what was chosen for them."""

    http_method_names = ["get", "post", "patch", "head", "options"]
    queryset = Runtime.objects.all()
    serializer_class = serializers.RuntimeSerializer
    filterset_fields = ["name", "place"]

    def perform_create(self, serializer):
        serializer.instance = runtimes.save_runtime(
            actor=self.request.user, **{"options": {}, "place": "host",
                                        **serializer.validated_data})

    def perform_update(self, serializer):
        row = serializer.instance
        serializer.instance = runtimes.save_runtime(
            actor=self.request.user, runtime=row, **{
                "name": row.name, "place": row.place, "options": row.options,
                **serializer.validated_data})

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def retire(self, request, pk=None):
        """Take it out of use; choices that name it end."""
        return self.shown(runtimes.retire_runtime(actor=request.user, runtime=self.get_object()))


class RuntimeChoiceViewSet(mixins.CreateModelMixin, mixins.DestroyModelMixin, ScopedViewSet):
    """Which jobs get which runtime: of a model, an engagement, a node; the nearest wins."""

    queryset = RuntimeChoice.objects.select_related("runtime", "node", "engagement",
                                                    "model__engagement")
    serializer_class = serializers.RuntimeChoiceSerializer
    filterset_fields = ["runtime", "node", "engagement", "model"]
    perform_create = creating(runtimes.choose_runtime)
    perform_destroy = destroying(runtimes.end_choice, "choice")


routes = [
    ("runtimes", RuntimeViewSet, "runtime"),
    ("runtime-choices", RuntimeChoiceViewSet, "runtime-choice"),
]
