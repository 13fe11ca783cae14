"""API of documents."""

from django.http import FileResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.viewsets import ReadOnlyModelViewSet

from delivery.reports import services
from delivery.reports.models import Document
from delivery.reports.serializers import (
    CorrectionSerializer,
    DocumentDetailSerializer,
    DocumentSerializer,
    DraftSerializer,
)
from engagements.models import Engagement


class DocumentViewSet(ReadOnlyModelViewSet):
    """Test reports and acceptance documents; POST makes a draft."""

    queryset = Document.objects.none()
    filterset_fields = ["kind", "state", "engagement__code"]

    def get_queryset(self):
        return Document.objects.visible_to(self.request.user).select_related(
            "engagement__customer").prefetch_related("files__document")

    def get_serializer_class(self):
        return DocumentDetailSerializer if self.action == "retrieve" else DocumentSerializer

    @extend_schema(request=DraftSerializer, responses={201: DocumentSerializer})
    def create(self, request):
        form = DraftSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        engagement = get_object_or_404(Engagement.objects.visible_to(request.user),
                                       code=form.validated_data["engagement"])
        draft = (services.draft_test_report
                 if form.validated_data["kind"] == Document.Kind.TEST_REPORT
                 else services.draft_acceptance)
        return self._made(draft(actor=request.user, engagement=engagement))

    @extend_schema(request=None, responses=DocumentSerializer)
    @action(detail=True, methods=["post"])
    def issue(self, request, pk=None):
        """Number and freeze a draft and store both files."""
        document = services.issue_document(actor=request.user, document=self.get_object())
        return Response(DocumentSerializer(document).data)

    @extend_schema(request=CorrectionSerializer, responses={201: DocumentSerializer})
    @action(detail=True, methods=["post"])
    def correct(self, request, pk=None):
        """A draft of the next version of an issued document."""
        form = CorrectionSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        return self._made(services.draft_correction(
            actor=request.user, document=self.get_object(), **form.validated_data))

    @extend_schema(
        responses={(200, "application/pdf"): OpenApiTypes.BINARY},
        parameters=[OpenApiParameter("language", enum=["zh-hans", "en"]),
                    OpenApiParameter("file_format", description="pdf, signed, signed2 …")])
    @action(detail=True, methods=["get"])
    def pdf(self, request, pk=None):
        """A stored file of the document."""
        stored = get_object_or_404(
            self.get_object().files, language=request.query_params.get("language", "zh-hans"),
            format=request.query_params.get("file_format", "pdf"))
        return FileResponse(stored.file.open("rb"), content_type="application/pdf",
                            filename=stored.download_name)

    def _made(self, document: Document) -> Response:
        return Response(DocumentSerializer(document).data, status=status.HTTP_201_CREATED)


routes = [("documents", DocumentViewSet, "document")]
