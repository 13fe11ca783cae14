"""REST endpoints of criteria, baselines and verdicts. Each write is one service call."""

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status, viewsets
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
from engagements.web.service_hooks import creating
from toolreaders.base import ReadError
from workers.api.file_waiting import after_reading
from workers.artifacts.reading_state import wait_until_read
from workers.models import Artifact


class VisibleMixin:
    """Only rows of the engagements that the user may see."""

    def get_queryset(self):
        return super().get_queryset().visible_to(self.request.user)


def signed_sheet(view, request) -> dict:
    """Scan and signatory of the request."""
    data = serializers.SignedSheetSerializer(data=request.data,
                                             context=view.get_serializer_context())
    data.is_valid(raise_exception=True)
    return data.validated_data


class DefinitionViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = MetricDefinition.objects.all()
    serializer_class = serializers.MetricDefinitionSerializer
    filterset_fields = ["code", "calculator", "quantity"]

    @extend_schema(request=serializers.DefinitionVersionSerializer,
                   responses={201: serializers.MetricDefinitionSerializer})
    @action(detail=True, methods=["post"])
    def versions(self, request, pk=None):
        """Add the next version, starting from this one; this one stays as it is."""
        data = serializers.DefinitionVersionSerializer(data=request.data)
        data.is_valid(raise_exception=True)
        new = services.add_definition_version(
            actor=request.user, definition=self.get_object(), **data.validated_data)
        return Response(self.get_serializer(new).data, status=status.HTTP_201_CREATED)


class BaselineViewSet(VisibleMixin, mixins.CreateModelMixin, viewsets.ReadOnlyModelViewSet):
    queryset = Baseline.objects.select_related("artifact").prefetch_related("runs__artifact")
    serializer_class = serializers.BaselineSerializer
    filterset_fields = ["model", "quantity"]
    perform_create = after_reading(creating(services.record_baseline))

    @extend_schema(request=serializers.BaselineRunSerializer,
                   responses={201: serializers.BaselineRunSerializer})
    @action(detail=True, methods=["post"])
    def runs(self, request, pk=None):
        """Add a repeat, or a re-measurement of a frozen baseline."""
        data = serializers.BaselineRunSerializer(data=request.data)
        data.is_valid(raise_exception=True)
        wait_until_read(data.validated_data["artifact"])
        run = baselines.add_run(actor=request.user, baseline=self.get_object(),
                                artifact=data.validated_data["artifact"])
        return Response(serializers.BaselineRunSerializer(run).data,
                        status=status.HTTP_201_CREATED)

    @extend_schema(request=serializers.ExplanationSerializer)
    @action(detail=True, methods=["post"])
    def explain(self, request, pk=None):
        """Say why a value that was asked about (`questions`) is right."""
        data = serializers.ExplanationSerializer(data=request.data)
        data.is_valid(raise_exception=True)
        found = baselines.explain_baseline(
            actor=request.user, baseline=self.get_object(), **data.validated_data)
        return Response(self.get_serializer(found).data)

    @extend_schema(request=serializers.SignedSheetSerializer)
    @action(detail=True, methods=["post"])
    def confirm(self, request, pk=None):
        """Confirm the sheet for one's own side, or enter the customer's signed sheet; the second
        side freezes it."""
        found = baselines.confirm_baseline(
            actor=request.user, baseline=self.get_object(), **signed_sheet(self, request))
        return Response(self.get_serializer(found).data)



class CriteriaSetViewSet(MissingPeopleAction, VisibleMixin, mixins.CreateModelMixin,
                         viewsets.ReadOnlyModelViewSet):
    duty_rule, asker_is_author = CRITERIA_DUTIES, False
    queryset = CriteriaSet.objects.select_related("signed_by").prefetch_related(
        "confirmations__confirmed_by")
    serializer_class = serializers.CriteriaSetSerializer
    filterset_fields = ["engagement", "state"]

    def perform_create(self, serializer):
        serializer.instance = services.draft_criteria(
            actor=self.request.user, **serializer.validated_data)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def confirm(self, request, pk=None):
        """Confirm the draft as it stands for one's own side."""
        found = services.confirm_criteria(actor=request.user, criteria_set=self.get_object())
        return Response(self.get_serializer(found).data)

    @extend_schema(request=serializers.SignedSheetSerializer)
    @action(detail=True, methods=["post"])
    def sign(self, request, pk=None):
        """Freeze the draft."""
        signed = services.sign_criteria(
            actor=request.user, criteria_set=self.get_object(), **signed_sheet(self, request))
        return Response(self.get_serializer(signed).data)

    @extend_schema(request=None, responses=serializers.VerdictSerializer(many=True))
    @action(detail=True, methods=["post"])
    def judge(self, request, pk=None):
        """Compute the verdicts of the engagement's signed criteria anew."""
        engagement = self.get_object().engagement
        require(request.user, Can.WORK, engagement)
        verdicts = services.judge_engagement(engagement, request.user)
        return Response(serializers.VerdictSerializer(verdicts, many=True).data)


class CriterionViewSet(VisibleMixin, mixins.CreateModelMixin, mixins.DestroyModelMixin,
                       viewsets.ReadOnlyModelViewSet):
    queryset = Criterion.objects.select_related("definition", "baseline__artifact")
    serializer_class = serializers.CriterionSerializer
    filterset_fields = ["criteria_set", "model", "stage"]

    def paginate_queryset(self, queryset):
        return queries.with_newest_verdicts(super().paginate_queryset(queryset))

    def perform_create(self, serializer):
        serializer.instance = services.add_criterion(
            actor=self.request.user, **serializer.validated_data)

    def perform_destroy(self, instance):
        services.remove_criterion(actor=self.request.user, criterion=instance)

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
        data = serializers.MeasureSerializer(data=request.data)
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

    @extend_schema(request=serializers.DifferenceAcceptanceSerializer,
                   responses={201: serializers.VerdictSerializer})
    @action(detail=True, methods=["post"], url_path="accept-differences")
    def accept_differences(self, request, pk=None):
        """Accept differences of the environments and judge anew."""
        data = serializers.DifferenceAcceptanceSerializer(data=request.data)
        data.is_valid(raise_exception=True)
        verdict = services.accept_and_judge(
            actor=request.user, criterion=self.get_object(), items=data.validated_data["items"],
            reason=data.validated_data["reason"])
        return Response(serializers.VerdictSerializer(verdict).data,
                        status=status.HTTP_201_CREATED)


class WaiverViewSet(VisibleMixin, mixins.CreateModelMixin, viewsets.ReadOnlyModelViewSet):
    queryset = Waiver.objects.all()
    serializer_class = serializers.WaiverSerializer
    filterset_fields = ["criterion"]

    def perform_create(self, serializer):
        serializer.instance = waivers.draft_waiver(
            actor=self.request.user, **serializer.validated_data)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def sign(self, request, pk=None):
        """Sign a drafted waiver; not who drafted it."""
        found = waivers.sign_waiver(actor=request.user, waiver=self.get_object())
        return Response(self.get_serializer(found).data)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def revoke(self, request, pk=None):
        """End the waiver before its day."""
        found = waivers.revoke_waiver(actor=request.user, waiver=self.get_object())
        return Response(self.get_serializer(found).data)


class MeasurementViewSet(VisibleMixin, viewsets.ReadOnlyModelViewSet):
    queryset = Measurement.objects.select_related("artifact")
    serializer_class = serializers.MeasurementSerializer
    filterset_fields = ["model", "quantity", "job"]


class VerdictViewSet(VisibleMixin, viewsets.ReadOnlyModelViewSet):
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
