"""REST endpoints of chains and their runs."""

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.decorators import action
from rest_framework.response import Response

from engagements.access import Can, require
from engagements.models import MigratedModel
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import RowEndpoint, ScopedViewSet
from engagements.web.service_hooks import creating
from engagements.web.visible_field import VisibleField
from workers.jobs import chain_places, shipped_chains
from workers.jobs.readable_values import readable
from workers.models import ChainRun, JobChain, Node
from workers.services import chains


class ChainSerializer(serializers.ModelSerializer):
    steps = serializers.ListField(child=serializers.DictField())

    class Meta:
        model = JobChain
        fields = ["id", "code", "name", "description", "steps", "created_by", "created_at"]
        read_only_fields = ["code", "created_by", "created_at"]

    def to_representation(self, chain):
        shown = super().to_representation(chain)
        return {**shown, "steps": readable(shown["steps"], user=self.context["request"].user,
                                           author_id=chain.created_by_id)}


class ChainRunSerializer(serializers.ModelSerializer):
    jobs = serializers.SlugRelatedField(slug_field="job_id", many=True, read_only=True)
    state = serializers.CharField(source="state_text", read_only=True)
    sentence = serializers.CharField(read_only=True)

    class Meta:
        model = ChainRun
        fields = ["id", "chain", "model", "node", "steps", "given", "is_regression", "jobs",
                  "state", "sentence", "started_by", "started_at", "finished_at"]

    def to_representation(self, run):
        shown, user = super().to_representation(run), self.context["request"].user
        steps = readable(shown["steps"], user=user, author_id=run.chain.created_by_id)
        return {**shown, "steps": steps,
                "given": readable(shown["given"], user=user, author_id=run.started_by_id)}


class StartSerializer(serializers.Serializer):
    models = VisibleField(queryset=MigratedModel.objects.all(), many=True)
    node = VisibleField(queryset=Node.objects.all())
    given = serializers.DictField(child=serializers.CharField(), required=False, help_text=(
        "What the places {given.…} of its steps are filled with."))


class StartShippedSerializer(StartSerializer):
    code = serializers.CharField()


class ShippedSerializer(serializers.Serializer):
    """A chain that comes with the product."""

    code = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    steps = serializers.ListField(child=serializers.DictField())
    given = serializers.ListField(child=serializers.CharField())


class ChainViewSet(mixins.CreateModelMixin, RowEndpoint):
    queryset = JobChain.objects.all()
    serializer_class = ChainSerializer

    def get_queryset(self):
        require(self.request.user, Can.VIEW_INTERNAL)
        return super().get_queryset()
    perform_create = creating(chains.save_chain)

    @extend_schema(request=StartSerializer, responses={201: ChainRunSerializer(many=True)})
    @action(detail=True, methods=["post"])
    def start(self, request, pk=None):
        """Start the chain for each of the models."""
        runs = chains.start_chain(actor=request.user, chain=self.get_object(),
                                  **self.validated(StartSerializer))
        return self._started(runs)


    def _started(self, runs) -> Response:
        shown = ChainRunSerializer(runs, many=True, context=self.get_serializer_context())
        return Response(shown.data, status=status.HTTP_201_CREATED)

    @extend_schema(responses=ShippedSerializer(many=True))
    @action(detail=False, pagination_class=None, filter_backends=[])
    def shipped(self, request):
        """The chains that come with the product."""
        require(request.user, Can.VIEW_INTERNAL)
        return Response(ShippedSerializer([
            {"code": chain.code, "title": chain.title, "description": chain.description,
             "steps": chain.steps, "given": chain_places.given_in(list(chain.steps))}
            for chain in shipped_chains.CHAINS], many=True).data)

    @extend_schema(request=StartShippedSerializer, responses=ChainRunSerializer(many=True))
    @action(detail=False, methods=["post"], url_path="start-shipped")
    def start_shipped(self, request):
        """Start a chain that comes with the product for each of the models."""
        runs = chains.start_shipped(actor=request.user, **self.validated(StartShippedSerializer))
        return self._started(runs)


class ChainRunViewSet(ScopedViewSet):
    is_job_work = True  # API tokens for jobs reach it
    queryset = ChainRun.objects.select_related("chain").prefetch_related("jobs__job")
    serializer_class = ChainRunSerializer
    filterset_fields = ["chain", "model", "node"]
    resume = RowAction(chains.resume_run, "run", "Go on where the run stopped.",
                       answers=ChainRunSerializer)
    cancel = RowAction(chains.cancel_run, "run", "End the run: its job at work is cancelled, no "
                       "further step is queued.", answers=ChainRunSerializer)


routes = [
    ("job-chains", ChainViewSet, "job-chain"),
    ("chain-runs", ChainRunViewSet, "chain-run"),
]
