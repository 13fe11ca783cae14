"""REST endpoints of human evaluations: start, sheet, ratings, conclusion."""

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import mixins, serializers, status
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser

from assessments import services
from assessments.human_evaluation.results import results_of
from assessments.models import HumanEvaluation, HumanRating
from engagements.models import MigratedModel
from engagements.web.file_responses import (
    LANGUAGE,
    IgnoreAcceptHeader,
    attached,
    chosen_language,
    schema_of,
)
from engagements.web.form_actions import XLSX
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating, destroying
from workers.api.file_waiting import after_reading
from workers.models import Artifact


class AgreementSerializer(serializers.Serializer):
    """Kappa and agreement over the items that every rater rated; null where not defined."""

    method = serializers.ChoiceField(["cohen", "fleiss"])
    source = serializers.CharField()
    raters = serializers.IntegerField()
    items = serializers.IntegerField()
    observed = serializers.FloatField(allow_null=True)
    expected = serializers.FloatField(allow_null=True)
    kappa = serializers.FloatField(allow_null=True)


class PreferenceCountsSerializer(serializers.Serializer):
    """How often the migrated model was better, the same or worse; `not_worse` is a fraction."""

    name = serializers.CharField()
    better = serializers.IntegerField()
    same = serializers.IntegerField()
    worse = serializers.IntegerField()
    not_worse = serializers.FloatField(allow_null=True)


class HumanEvaluationResultSerializer(serializers.Serializer):
    raters = PreferenceCountsSerializer(many=True)
    whole = PreferenceCountsSerializer()
    agreement = AgreementSerializer(allow_null=True)


class HumanRatingSerializer(serializers.ModelSerializer):
    class Meta:
        model = HumanRating
        fields = ["id", "evaluation", "rater", "rated", "artifact", "imported_by", "imported_at"]
        read_only_fields = fields


class HumanEvaluationSerializer(serializers.ModelSerializer):
    """`seed` and `results` are null until the evaluation is concluded: before, it is blind."""

    model = serializers.PrimaryKeyRelatedField(queryset=MigratedModel.objects.all())
    baseline_file = serializers.PrimaryKeyRelatedField(queryset=Artifact.objects.all())
    candidate_file = serializers.PrimaryKeyRelatedField(queryset=Artifact.objects.all())
    item_count = serializers.SerializerMethodField()
    seed = serializers.SerializerMethodField()
    results = serializers.SerializerMethodField()
    ratings = HumanRatingSerializer(many=True, read_only=True)

    class Meta:
        model = HumanEvaluation
        fields = ["id", "model", "name", "instruction", "baseline_file", "candidate_file",
                  "item_count", "seed", "ratings", "results", "report", "recorded_by",
                  "recorded_at", "concluded_at"]
        read_only_fields = fields[6:]

    def get_item_count(self, row) -> int:
        return len(row.items)

    def get_seed(self, row) -> int | None:
        return row.seed if row.is_concluded else None

    @extend_schema_field(HumanEvaluationResultSerializer(allow_null=True))
    def get_results(self, row):
        return HumanEvaluationResultSerializer(results_of(row)).data if row.is_concluded else None


class RatingUploadSerializer(serializers.Serializer):
    file = serializers.FileField()


class HumanEvaluationViewSet(mixins.CreateModelMixin, ScopedViewSet):
    """Blind comparisons of generated answers. Sides are drawn by a stored seed."""

    queryset = HumanEvaluation.objects.select_related(
        "model__engagement", "baseline_file", "candidate_file").prefetch_related("ratings")
    serializer_class = HumanEvaluationSerializer
    filterset_fields = ["model", "model__engagement"]
    perform_create = after_reading(creating(services.start_evaluation))
    conclude = RowAction(
        services.conclude_evaluation, "evaluation",
        "Unblind, write the result file, measure it and judge the criteria it bears on.")

    @extend_schema(parameters=[LANGUAGE], responses=schema_of(XLSX))
    @action(detail=True, content_negotiation_class=IgnoreAcceptHeader)
    def sheet(self, request, pk=None):
        """The rating sheet to fill in."""
        from assessments.human_evaluation.sheet import rating_sheet  # openpyxl: not at start

        row, language = self.get_object(), chosen_language(request)
        return attached(rating_sheet(row, language), XLSX, f"rating-{row.pk}-{language}.xlsx", row)

    @extend_schema(request={"multipart/form-data": RatingUploadSerializer},
                   responses={201: HumanEvaluationSerializer})
    @action(detail=True, methods=["post"], parser_classes=[MultiPartParser])
    def rate(self, request, pk=None):
        """Take in a filled-in sheet; a newer one of the same rater replaces it."""
        services.import_rating(actor=request.user, evaluation=self.get_object(),
                               upload=self.validated(RatingUploadSerializer)["file"])
        return self.fresh(status.HTTP_201_CREATED)


class HumanRatingViewSet(mixins.DestroyModelMixin, ScopedViewSet):
    """Which raters' sheets were taken in; deleting takes one back while the evaluation is open."""

    queryset = HumanRating.objects.select_related("evaluation__model__engagement")
    serializer_class = HumanRatingSerializer
    filterset_fields = ["evaluation"]
    perform_destroy = destroying(services.remove_rating, "rating")


routes = [
    ("human-evaluations", HumanEvaluationViewSet, "human-evaluation"),
    ("human-ratings", HumanRatingViewSet, "human-rating"),
]
