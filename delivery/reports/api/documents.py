"""API of documents."""

from django.http import FileResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.reports import registry, services
from delivery.reports.api.settings import routes as settings_routes
from delivery.reports.approvals import approval_chain
from delivery.reports.approvals.document_duties import DUTIES
from delivery.reports.issue_checks.checks import problems_of
from delivery.reports.models import Document
from delivery.reports.serializers import (
    ColleagueSerializer,
    DocumentDetailSerializer,
    DocumentKindSerializer,
    DocumentSerializer,
    DraftSerializer,
    ObstacleSerializer,
    PassageSerializer,
    ReasonSerializer,
    ReviewCommentSerializer,
)
from engagements.access import Can, require
from engagements.audit import download_log
from engagements.models import Engagement
from engagements.web.missing_people import MissingPeopleAction
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet


class DocumentViewSet(MissingPeopleAction, ScopedViewSet):
    """Documents of all kinds; POST makes a draft."""

    duty_rule = DUTIES
    queryset = Document.objects.select_related("engagement__customer").prefetch_related(
        "files__document__engagement")
    filterset_fields = ["kind", "state", "engagement__code"]
    refresh = RowAction(services.refresh_draft, "document", "Collect the facts of a draft anew.")
    submit = RowAction(services.submit_document, "document", "Hand a draft to its reviewers.")
    review = RowAction(services.review_document, "document",
                       "Confirm a draft as its reviewer, who is not its author.",
                       ReviewCommentSerializer)
    send_back = RowAction(services.send_back_document, "document",
                          "Return a draft in review to its author.", ReasonSerializer,
                          url_path="send-back")
    recall = RowAction(
        services.recall_document, "document",
        "Take a document back: its author from review; he or the approver while files are made.")
    issue = RowAction(
        services.order_issue, "document",
        "Approve a reviewed document: it is numbered and frozen; workers make its files.",
        answers=DocumentSerializer, code=status.HTTP_202_ACCEPTED)
    correct = RowAction(services.draft_correction, "document",
                        "A draft of the next version of an issued document.", ReasonSerializer,
                        answers=DocumentSerializer, code=status.HTTP_201_CREATED)
    withdraw = RowAction(services.withdraw_document, "document",
                         "Withdraw an issued document; its files stay readable.",
                         ReasonSerializer)

    def get_queryset(self):
        found = super().get_queryset()
        return found.without_facts() if self.action == "list" else found

    def get_serializer_class(self):
        return (DocumentDetailSerializer if self.action in ("retrieve", "preview", "repeat")
                else DocumentSerializer)

    @extend_schema(request=DraftSerializer, responses={201: DocumentSerializer})
    def create(self, request):
        fields = self.validated(DraftSerializer)
        engagement = get_object_or_404(Engagement.objects.visible_to(request.user),
                                       code=fields["engagement"])
        return self.shown(services.draft_document(
            actor=request.user, engagement=engagement, kind=fields["kind"]),
            status.HTTP_201_CREATED)

    def destroy(self, request, pk=None):
        """Discard a draft."""
        services.discard_draft(actor=request.user, document=self.get_object())
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(responses=DocumentKindSerializer(many=True), filters=False)
    @action(detail=False, pagination_class=None)
    def kinds(self, request):
        """The kinds of documents."""
        return Response(DocumentKindSerializer(registry.all_kinds(), many=True).data)

    @extend_schema(responses=ObstacleSerializer(many=True), filters=False)
    @action(detail=True, pagination_class=None)
    def obstacles(self, request, pk=None):
        """What stands in the way of issuing."""
        require(request.user, Can.VIEW_INTERNAL)
        return Response(ObstacleSerializer(problems_of(self.get_object()), many=True).data)

    @extend_schema(request=PassageSerializer(many=True), responses=DocumentSerializer)
    @action(detail=True, methods=["post"])
    def words(self, request, pk=None):
        """Write passages of a draft."""
        rows = self.validated(PassageSerializer, many=True)
        return self.shown(services.write_words(
            actor=request.user, document=self.get_object(),
            words={row["code"]: {"zh": row["zh"], "en": row["en"]} for row in rows}))

    @extend_schema(request=None, responses={202: DocumentDetailSerializer})
    @action(detail=True, methods=["post"])
    def preview(self, request, pk=None):
        """Have a draft set as PDF in both languages; `orders` tell how far it is."""
        return self._ordered(services.order_preview)

    @extend_schema(request=None, responses={202: DocumentDetailSerializer})
    @action(detail=True, methods=["post"])
    def repeat(self, request, pk=None):
        """Try files that could not be made again."""
        return self._ordered(services.requeue_render_jobs)

    def _ordered(self, service) -> Response:
        service(actor=self.request.user, document=self.get_object())
        return self.fresh(status.HTTP_202_ACCEPTED)

    @extend_schema(request=ColleagueSerializer, responses=DocumentSerializer)
    @action(detail=True, methods=["post"], url_path="hand-over")
    def hand_over(self, request, pk=None):
        """Let a colleague do the review that is one's turn."""
        return self._passed_on(request, services.hand_over_review)

    @extend_schema(request=ColleagueSerializer, responses=DocumentSerializer)
    @action(detail=True, methods=["post"], url_path="co-sign")
    def co_sign(self, request, pk=None):
        """Ask a colleague to review too; both must confirm."""
        return self._passed_on(request, services.add_co_signer)

    def _passed_on(self, request, service) -> Response:
        fields, document = self.validated(ColleagueSerializer), self.get_object()
        require(request.user, Can.VIEW_INTERNAL)
        colleague = get_object_or_404(approval_chain.colleagues(document),
                                      username=fields["colleague"])
        return self.shown(service(actor=request.user, document=document, colleague=colleague,
                                  reason=fields["reason"]))

    @extend_schema(
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
        parameters=[OpenApiParameter("language", enum=["zh-hans", "en"]),
                    OpenApiParameter("file_format", description="pdf, xlsx, docx, signed …")])
    @action(detail=True, methods=["get"])
    def pdf(self, request, pk=None):
        """A stored file of the document."""
        stored = get_object_or_404(
            self.get_object().files, language=request.query_params.get("language", "zh-hans"),
            format=request.query_params.get("file_format", "pdf"))
        return download_log.of(FileResponse(
            stored.file.open("rb"), content_type=stored.content_type,
            filename=stored.served_name), stored.document)


routes = [("documents", DocumentViewSet, "document"), *settings_routes]
