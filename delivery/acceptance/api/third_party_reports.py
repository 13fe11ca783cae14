"""API of test reports of accredited laboratories."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.viewsets import ReadOnlyModelViewSet

from delivery.acceptance import services
from delivery.acceptance.models import ThirdPartyReport
from delivery.acceptance.serializers import (
    NewThirdPartyReportSerializer,
    ReasonGivenSerializer,
    ThirdPartyReportSerializer,
)


class ThirdPartyReportViewSet(ReadOnlyModelViewSet):
    """Test reports of accredited laboratories (CNAS, CMA) as evidence."""

    serializer_class = ThirdPartyReportSerializer
    queryset = ThirdPartyReport.objects.none()
    filterset_fields = ["engagement__code"]

    def get_queryset(self):
        return ThirdPartyReport.objects.visible_to(self.request.user).select_related(
            "engagement", "artifact", "recorded_by")

    @extend_schema(request={"multipart/form-data": NewThirdPartyReportSerializer},
                   responses={201: ThirdPartyReportSerializer})
    def create(self, request):
        """Attach a report with its file (PDF, PNG or JPEG)."""
        form = NewThirdPartyReportSerializer(data=request.data, context={"user": request.user})
        form.is_valid(raise_exception=True)
        made = services.attach_third_party_report(actor=request.user, **form.validated_data)
        return Response(ThirdPartyReportSerializer(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=ReasonGivenSerializer, responses=ThirdPartyReportSerializer)
    @action(detail=True, methods=["post"])
    def withdraw(self, request, pk=None):
        """Take it out of the evidence; it stays readable."""
        report, form = self.get_object(), ReasonGivenSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        return Response(ThirdPartyReportSerializer(services.withdraw_third_party_report(
            actor=request.user, report=report, **form.validated_data)).data)


routes = [("third-party-reports", ThirdPartyReportViewSet, "third-party-report")]
