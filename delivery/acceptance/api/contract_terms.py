"""API of what the contract says: terms, powers of attorney, outstanding issues, verification."""

from django.http import FileResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.exceptions import Throttled
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from delivery.acceptance import services
from delivery.acceptance.document_verification import is_within_rate_limit, verify_document
from delivery.acceptance.models import AcceptanceTerms, Condition, PowerOfAttorney, Review
from delivery.acceptance.serializers.contract_terms import (
    ConditionReportSerializer,
    ConditionStepSerializer,
    NewPowerOfAttorneySerializer,
    PowerOfAttorneySerializer,
    ReasonGivenSerializer,
    TermsSerializer,
    VerificationResultSerializer,
    VerificationSerializer,
)
from delivery.acceptance.serializers.review import (
    ConditionSerializer,
)
from delivery.acceptance.web import download
from engagements.access import Can, require
from engagements.models import Engagement
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import DeclaredEndpoint, ScopedViewSet
from engagements.web.strict_filters import KnownParameters

BINARY = {(200, "application/octet-stream"): OpenApiTypes.BINARY}


class TermsViewSet(DeclaredEndpoint, GenericViewSet):
    """What the contract of an engagement says of acceptance; project managers record it."""

    serializer_class = TermsSerializer
    queryset = AcceptanceTerms.objects.none()
    lookup_field, lookup_url_kwarg = "engagement__code", "code"

    def _engagement(self, code: str) -> Engagement:
        found = get_object_or_404(Engagement.objects.visible_to(self.request.user), code=code)
        require(self.request.user, Can.MANAGE, found)
        return found

    def retrieve(self, request, code=None):
        """The terms; what was never recorded is empty."""
        engagement = self._engagement(code)
        stored = AcceptanceTerms.objects.filter(engagement=engagement).first()
        return Response(TermsSerializer(stored or AcceptanceTerms()).data)

    def update(self, request, code=None):
        """Record all terms anew."""
        engagement, terms = self._engagement(code), self.validated(TermsSerializer)
        return Response(TermsSerializer(services.set_terms(
            actor=request.user, engagement=engagement, **terms)).data)


class PowerOfAttorneyViewSet(ScopedViewSet):
    """Powers of attorney: who may sign for the customer."""

    serializer_class = PowerOfAttorneySerializer
    queryset = PowerOfAttorney.objects.select_related("engagement", "user")
    filterset_fields = ["engagement__code", "user"]
    end = RowAction(services.end_power_of_attorney, "power", "End it now.", ReasonGivenSerializer)

    @extend_schema(request={"multipart/form-data": NewPowerOfAttorneySerializer},
                   responses={201: PowerOfAttorneySerializer})
    def create(self, request):
        """Record a power of attorney with its scan."""
        fields = self.validated(NewPowerOfAttorneySerializer, context={"user": request.user})
        made = services.record_power_of_attorney(actor=request.user, **fields)
        return Response(PowerOfAttorneySerializer(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses=BINARY)
    @action(detail=True)
    def file(self, request, pk=None) -> FileResponse:
        """The scan."""
        power = self.get_object()
        return download(power.file, power.file_name)


class ConditionViewSet(ScopedViewSet):
    """Outstanding issues of conditional acceptances."""

    serializer_class = ConditionSerializer
    queryset = Condition.objects.select_related("model", "review__document__engagement")
    filterset_fields = ["review", "effect"]
    report = RowAction(services.report_condition, "condition",
                       "The team says what was done.", ConditionReportSerializer)
    close = RowAction(services.close_condition, "condition",
                      "The customer confirms that it is closed.")
    send_back = RowAction(services.send_back_condition, "condition",
                          "The customer does not confirm what was reported.",
                          ConditionStepSerializer, url_path="send-back")
    reopen = RowAction(services.reopen_condition, "condition",
                       "The customer takes a closing back.", ConditionStepSerializer)


class VerificationViewSet(KnownParameters, GenericViewSet):
    """Whether number and checksum belong together; public, and nothing else is revealed."""

    serializer_class = VerificationResultSerializer
    permission_classes = [AllowAny]
    queryset = Review.objects.none()
    pagination_class, filter_backends = None, ()
    query_parameters = ("number", "hash")

    @extend_schema(parameters=[VerificationSerializer], responses=VerificationResultSerializer,
                   extensions={"x-refusals": [429]})
    def list(self, request):
        """Look a document up by number and content hash, or SHA-256 of its file."""
        form = VerificationSerializer(data=request.query_params)
        form.is_valid(raise_exception=True)
        if not is_within_rate_limit(request.META.get("REMOTE_ADDR", "")):
            raise Throttled(wait=60)
        found = verify_document(form.validated_data["number"], form.validated_data["hash"])
        return Response(VerificationResultSerializer({"found": found}).data)


routes = [("acceptance-terms", TermsViewSet, "acceptance-terms"),
          ("powers-of-attorney", PowerOfAttorneyViewSet, "power-of-attorney"),
          ("outstanding-issues", ConditionViewSet, "outstanding-issue"),
          ("verification", VerificationViewSet, "verification")]
