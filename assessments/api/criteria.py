"""REST endpoints of criteria, baselines and verdicts. Each write is one service call."""

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.response import Response

from assessments import charts, queries, services
from assessments.api import criteria_serializers as serializers
from assessments.duties import CRITERIA_DUTIES
from assessments.models import (
    Baseline,
    CriteriaSet,
    Criterion,
    Measurement,
    MetricDefinition,
    Verdict,
    Waiver,
)
from assessments.services import baselines, waivers
from engagements.access import Can, require
from engagements.web.missing_people import MissingPeopleAction
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import RowEndpoint, ScopedViewSet
from engagements.web.service_hooks import creating, destroying
from engagements.web.strict_bodies import checked_body
from toolreaders.base import ReadError
from workers.api.file_waiting import after_reading
from workers.artifacts.reading_state import wait_until_read
from workers.models import Artifact


class DefinitionViewSet(RowEndpoint):
    queryset = MetricDefinition.objects.all()
    serializer_class = serializers.MetricDefinitionSerializer
    filterset_fields = ["code", "calculator", "quantity"]
    versions = RowAction(
        services.add_definition_version, "definition",
        "Add the next version, starting from this one; this one stays as it is.",
        serializers.DefinitionVersionSerializer,
        answers=serializers.MetricDefinitionSerializer, code=status.HTTP_201_CREATED)


class BaselineViewSet(mixins.CreateModelMixin, ScopedViewSet):
    queryset = Baseline.objects.select_related("artifact").prefetch_related("runs__artifact")
    serializer_class = serializers.BaselineSerializer
    filterset_fields = ["model", "quantity"]
    perform_create = after_reading(creating(services.record_baseline))
    explain = RowAction(
        baselines.explain_baseline, "baseline",
        "Say why a value that was asked about (`questions`) is right.",
        serializers.ExplanationSerializer)
    confirm = RowAction(
        baselines.confirm_baseline, "baseline",
        "Confirm the sheet for one's own side, or enter the customer's signed sheet; the second\n"
        "side freezes it.", serializers.SignedSheetSerializer)

    @extend_schema(request=serializers.BaselineRunSerializer,
                   responses={201: serializers.BaselineRunSerializer})
    @action(detail=True, methods=["post"])
    def runs(self, request, pk=None):
        """Add a repeat, or a re-measurement of a frozen baseline."""
        artifact = self.validated(serializers.BaselineRunSerializer)["artifact"]
        wait_until_read(artifact)
        run = baselines.add_run(actor=request.user, baseline=self.get_object(), artifact=artifact)
        return Response(serializers.BaselineRunSerializer(run).data,
                        status=status.HTTP_201_CREATED)


class CriteriaSetViewSet(MissingPeopleAction, mixins.CreateModelMixin, ScopedViewSet):
    duty_rule, asker_is_author = CRITERIA_DUTIES, False
    queryset = CriteriaSet.objects.select_related("signed_by").prefetch_related(
        "confirmations__confirmed_by")
    serializer_class = serializers.CriteriaSetSerializer
    filterset_fields = ["engagement", "state"]
    confirm = RowAction(services.confirm_criteria, "criteria_set",
                        "Confirm the draft as it stands for one's own side.")
    sign = RowAction(services.sign_criteria, "criteria_set", "Freeze the draft.",
                     serializers.SignedSheetSerializer)
    add_ready_set = RowAction(
        services.add_ready_set, "criteria_set",
        "Add the thresholds of a ready set that the draft lacks.",
        serializers.ReadySetSerializer, url_path="add-ready-set")
    perform_create = creating(services.draft_criteria)

    @extend_schema(request=None, responses=serializers.VerdictSerializer(many=True))
    @action(detail=True, methods=["post"])
    def judge(self, request, pk=None):
        """Compute the verdicts of the engagement's signed criteria anew."""
        engagement = self.get_object().engagement
        require(request.user, Can.WORK, engagement)
        verdicts = services.judge_engagement(engagement, request.user)
        return Response(serializers.VerdictSerializer(verdicts, many=True).data)


class CriterionViewSet(mixins.CreateModelMixin, mixins.DestroyModelMixin, ScopedViewSet):
    queryset = Criterion.objects.select_related("definition", "baseline__artifact")
    serializer_class = serializers.CriterionSerializer
    filterset_fields = ["criteria_set", "model", "stage"]
    perform_create = creating(services.add_criterion)
    perform_destroy = destroying(services.remove_criterion, "criterion")
    accept_differences = RowAction(
        services.accept_and_judge, "criterion",
        "Accept differences of the environments and judge anew.",
        serializers.DifferenceAcceptanceSerializer, answers=serializers.VerdictSerializer,
        code=status.HTTP_201_CREATED, url_path="accept-differences")

    def paginate_queryset(self, queryset):
        return queries.with_newest_verdicts(super().paginate_queryset(queryset))

    @extend_schema(request=None, responses={201: serializers.VerdictSerializer})
    @action(detail=True, methods=["post"])
    def judge(self, request, pk=None):
        """Compute the verdict anew from the raw files."""
        criterion = self.get_object()
        require(request.user, Can.WORK, criterion.criteria_set.engagement)
        verdict = services.judge_criterion(criterion, request.user)
        return Response(serializers.VerdictSerializer(verdict).data,
                        status=status.HTTP_201_CREATED)

    @extend_schema(request=serializers.MeasureSerializer,
                   responses={201: serializers.VerdictSerializer(many=True)})
    @action(detail=True, methods=["post"], pagination_class=None, filterset_fields=None)
    def measure(self, request, pk=None):
        """Take a stored file as a measurement of the criterion's model and judge it."""
        criterion = self.get_object()
        data = checked_body(serializers.MeasureSerializer(data=request.data))
        data.fields["artifact"].queryset = Artifact.objects.visible_to(request.user)
        data.is_valid(raise_exception=True)
        wait_until_read(data.validated_data["artifact"])
        verdicts = services.measure_file(actor=request.user, model=criterion.model,
                                         **data.validated_data)
        return Response(serializers.VerdictSerializer(verdicts, many=True).data,
                        status=status.HTTP_201_CREATED)

    @extend_schema(responses={(200, "application/json"): OpenApiTypes.OBJECT}, parameters=[
        serializers.StepsSerializer])
    @action(detail=True)
    def curve(self, request, pk=None):
        """Both curves of a judged loss curve between two steps, thinned with every extreme kept."""
        criterion = self.get_object()
        verdict = queries.newest_verdict(criterion)
        window = serializers.StepsSerializer(data=request.query_params)
        window.is_valid(raise_exception=True)
        if not charts.can_be_drawn(criterion, verdict):
            raise Http404
        try:
            return Response(charts.curve_detail(criterion, verdict, **window.validated_data))
        except ReadError as error:
            raise Http404 from error


class WaiverViewSet(mixins.CreateModelMixin, ScopedViewSet):
    queryset = Waiver.objects.all()
    serializer_class = serializers.WaiverSerializer
    filterset_fields = ["criterion"]
    sign = RowAction(waivers.sign_waiver, "waiver",
                     "Sign a drafted waiver; not who drafted it.")
    revoke = RowAction(waivers.revoke_waiver, "waiver", "End the waiver before its day.")
    perform_create = creating(waivers.draft_waiver)


class MeasurementViewSet(ScopedViewSet):
    queryset = Measurement.objects.select_related("artifact")
    serializer_class = serializers.MeasurementSerializer
    filterset_fields = ["model", "quantity", "job"]


class VerdictViewSet(ScopedViewSet):
    queryset = Verdict.objects.select_related("criterion__definition", "criterion__baseline")
    serializer_class = serializers.VerdictSerializer
    filterset_fields = ["criterion", "outcome"]


routes = [
    ("definitions", DefinitionViewSet, "definition"),
    ("baselines", BaselineViewSet, "baseline"),
    ("criteria-sets", CriteriaSetViewSet, "criteria-set"),
    ("criteria", CriterionViewSet, "criterion"),
    ("measurements", MeasurementViewSet, "measurement"),
    ("verdicts", VerdictViewSet, "verdict"),
    ("waivers", WaiverViewSet, "waiver"),
]
