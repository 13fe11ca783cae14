"""REST endpoints of chains and their runs."""

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from engagements.access import Can, require
from engagements.models import Engagement, MigratedModel
from workers.models import ChainRun, JobChain, Node
from workers.services import chains


class ChainSerializer(serializers.ModelSerializer):
    steps = serializers.ListField(child=serializers.DictField())

    class Meta:
        model = JobChain
        fields = ["id", "name", "description", "steps", "created_by", "created_at"]
        read_only_fields = ["created_by", "created_at"]


class ChainRunSerializer(serializers.ModelSerializer):
    jobs = serializers.SlugRelatedField(slug_field="job_id", many=True, read_only=True)
    state = serializers.CharField(source="state_text", read_only=True)
    sentence = serializers.CharField(read_only=True)

    class Meta:
        model = ChainRun
        fields = ["id", "chain", "model", "node", "steps", "jobs", "state", "sentence",
                  "started_by", "started_at", "finished_at"]


class StartSerializer(serializers.Serializer):
    models = serializers.PrimaryKeyRelatedField(queryset=MigratedModel.objects.all(), many=True)
    node = serializers.PrimaryKeyRelatedField(queryset=Node.objects.all())


class ChainViewSet(mixins.CreateModelMixin, viewsets.ReadOnlyModelViewSet):
    queryset = JobChain.objects.all()
    serializer_class = ChainSerializer

    def get_queryset(self):
        require(self.request.user, Can.VIEW_INTERNAL)
        return super().get_queryset()

    def perform_create(self, serializer):
        serializer.instance = chains.save_chain(
            actor=self.request.user, **serializer.validated_data)

    @extend_schema(request=StartSerializer, responses=ChainRunSerializer(many=True))
    @action(detail=True, methods=["post"])
    def start(self, request, pk=None):
        """Start the chain for each of the models."""
        serializer = StartSerializer(data=request.data)
        visible = Engagement.objects.visible_to(request.user)
        serializer.fields["models"].child_relation.queryset = MigratedModel.objects.filter(
            engagement__in=visible)
        serializer.fields["node"].queryset = Node.objects.visible_to(request.user)
        serializer.is_valid(raise_exception=True)
        runs = chains.start_chain(actor=request.user, chain=self.get_object(),
                                  **serializer.validated_data)
        return Response(ChainRunSerializer(runs, many=True).data, status=status.HTTP_201_CREATED)


class ChainRunViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = ChainRun.objects.prefetch_related("jobs__job")
    serializer_class = ChainRunSerializer
    filterset_fields = ["chain", "model", "node"]

    def get_queryset(self):
        return super().get_queryset().visible_to(self.request.user)


routes = [
    ("job-chains", ChainViewSet, "job-chain"),
    ("chain-runs", ChainRunViewSet, "chain-run"),
]
