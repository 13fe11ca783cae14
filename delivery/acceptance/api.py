"""API of reviews and evidence bundles."""

from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.viewsets import ReadOnlyModelViewSet

from delivery.acceptance import services
from delivery.acceptance.models import EvidenceBundle, Review
from delivery.acceptance.serializers import (
    BundleSerializer,
    CommentSerializer,
    DecisionSerializer,
    DeclineSerializer,
    IdentifySerializer,
    ReviewSerializer,
    SignSerializer,
)
from delivery.acceptance.views.finding import browser_of
from delivery.reports.models import Document
from engagements.models import Engagement


class ReviewViewSet(ReadOnlyModelViewSet):
    """The customer's reviews of acceptance documents."""

    serializer_class = ReviewSerializer
    queryset = Review.objects.none()
    filterset_fields = ["decision", "document"]

    def get_queryset(self):
        return Review.objects.filter(
            document__in=Document.objects.visible_to(self.request.user)).select_related(
            "document__engagement").prefetch_related(
            "conditions__model", "comments__author", "signatures__signer", "signers__user",
            "model_decisions__model").order_by("-pk")

    @extend_schema(request=CommentSerializer, responses=ReviewSerializer)
    @action(detail=True, methods=["post"])
    def comment(self, request, pk=None):
        """Add a remark."""
        return self._written(CommentSerializer, services.comment)

    @extend_schema(request=DecisionSerializer, responses=ReviewSerializer)
    @action(detail=True, methods=["post"])
    def decide(self, request, pk=None):
        """Accept, accept with conditions, or reject; once."""
        return self._written(DecisionSerializer, services.decide)

    @extend_schema(request=IdentifySerializer, responses=ReviewSerializer)
    @action(detail=True, methods=["post"])
    def identify(self, request, pk=None):
        """Accept the terms of signing and have a one-time code sent by e-mail."""
        return self._written(IdentifySerializer, services.begin_signing,
                             ip_address=request.META.get("REMOTE_ADDR"))

    @extend_schema(request=SignSerializer, responses=ReviewSerializer)
    @action(detail=True, methods=["post"])
    def sign(self, request, pk=None):
        """Sign the content hash of the decided document with the code."""
        return self._written(SignSerializer, services.sign, **browser_of(request))

    @extend_schema(request=DeclineSerializer, responses=ReviewSerializer)
    @action(detail=True, methods=["post"])
    def decline(self, request, pk=None):
        """Refuse to sign, with a reason."""
        return self._written(DeclineSerializer, services.decline)

    def _written(self, serializer, service, **extra) -> Response:
        form = serializer(data=self.request.data)
        form.is_valid(raise_exception=True)
        review = self.get_object()
        service(actor=self.request.user, review=review, **form.validated_data, **extra)
        return Response(ReviewSerializer(self.get_object()).data)


class BundleViewSet(ReadOnlyModelViewSet):
    """Stored evidence bundles."""

    serializer_class = BundleSerializer
    queryset = EvidenceBundle.objects.none()
    filterset_fields = ["document", "engagement__code"]

    def get_queryset(self):
        return EvidenceBundle.objects.filter(
            engagement__in=Engagement.objects.visible_to(self.request.user))

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    @action(detail=True, methods=["get"])
    def file(self, request, pk=None):
        """The zip."""
        return FileResponse(self.get_object().file.open("rb"), as_attachment=True,
                            content_type="application/zip", filename=f"bundle-{pk}.zip")


routes = [("reviews", ReviewViewSet, "review"), ("bundles", BundleViewSet, "bundle")]
