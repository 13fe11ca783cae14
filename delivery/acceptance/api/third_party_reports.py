"""API of test reports of accredited laboratories."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.acceptance import services
from delivery.acceptance.models import ThirdPartyReport
from delivery.acceptance.serializers.contract_terms import (
    ReasonGivenSerializer,
)
from delivery.acceptance.serializers.third_party_reports import (
    NewThirdPartyReportSerializer,
    ThirdPartyReportSerializer,
)
from engagements.web.scoped_viewset import ScopedViewSet


class ThirdPartyReportViewSet(ScopedViewSet):
    """Test reports of accredited laboratories (CNAS, CMA) as evidence."""

    serializer_class = ThirdPartyReportSerializer
    queryset = ThirdPartyReport.objects.select_related("engagement", "artifact", "recorded_by")
    filterset_fields = ["engagement__code"]

    @extend_schema(request={"multipart/form-data": NewThirdPartyReportSerializer},
                   responses={201: ThirdPartyReportSerializer})
    def create(self, request):
        """Attach a report with its file (PDF, PNG or JPEG)."""
        fields = self.validated(NewThirdPartyReportSerializer, context={"user": request.user})
        made = services.attach_third_party_report(actor=request.user, **fields)
        return Response(ThirdPartyReportSerializer(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=ReasonGivenSerializer, responses=ThirdPartyReportSerializer)
    @action(detail=True, methods=["post"])
    def withdraw(self, request, pk=None):
        """Take it out of the evidence; it stays readable."""
        report, fields = self.get_object(), self.validated(ReasonGivenSerializer)
        return Response(ThirdPartyReportSerializer(services.withdraw_third_party_report(
            actor=request.user, report=report, **fields)).data)


routes = [("third-party-reports", ThirdPartyReportViewSet, "third-party-report")]
