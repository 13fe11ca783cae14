"""API of reviews and signatures."""

from django.http import FileResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.acceptance import services
from delivery.acceptance.api import blocker_waivers, contract_terms, third_party_reports
from delivery.acceptance.api.contract_terms import BINARY
from delivery.acceptance.models import Review
from delivery.acceptance.review.deliverables import deliverables_of
from delivery.acceptance.review.retest_comparison import compare_with_current
from delivery.acceptance.serializers.review import (
    DecisionSerializer,
    DeclineSerializer,
    DelegateSerializer,
    DeliverableSerializer,
    IdentifySerializer,
    NewCommentSerializer,
    NewReceiptSerializer,
    NoticeProofSerializer,
    OpenReviewSerializer,
    PasskeyRequestSerializer,
    ResolveSerializer,
    RetestRowSerializer,
    ReviewSerializer,
    SignersSerializer,
    SignSerializer,
)
from delivery.acceptance.services.decisions import models_by_code
from delivery.acceptance.services.identification import (
    open_identification,
    passkey_request,
    statement_hash,
    statement_of,
)
from delivery.acceptance.web import download, signature_origin
from engagements.errors import InvalidInput
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet


class ReviewViewSet(ScopedViewSet):
    """The customer's reviews of acceptance documents."""

    serializer_class = ReviewSerializer
    queryset = Review.objects.all()
    filterset_fields = ["decision", "document"]
    receipts = RowAction(services.confirm_receipt, "review",
                         "Confirm that deliverables were received, or say what is missing.",
                         NewReceiptSerializer)
    signers = RowAction(services.name_signers, "review", "Set who signs, in this order.",
                        SignersSerializer)
    deemed = RowAction(
        services.record_deemed_acceptance, "review",
        "Record that the contract takes the customer's silence for acceptance.")
    decide = RowAction(
        services.decide, "review",
        "Accept, accept with conditions, or reject; a correction replaces an unsigned decision.\n\n"
        "Reasons and issues of the recorded decision are dropped where another one is made and "
        "they\ncome back unchanged.", DecisionSerializer)
    decline = RowAction(services.decline, "review", "Refuse to sign, with a reason.",
                        DeclineSerializer)

    delegate = RowAction(services.delegate, "review", "Hand the own turn to sign to a colleague.",
                         DelegateSerializer)

    def get_queryset(self):
        return super().get_queryset().select_related(
            "document__engagement").prefetch_related(
            "conditions__model", "comments__author", "comments__resolved_by",
            "signatures__signer", "signers__user", "model_decisions__model", "notice_proofs",
        ).defer("document__snapshot", "document__words").order_by("-pk")

    @extend_schema(request=OpenReviewSerializer, responses={201: ReviewSerializer})
    def create(self, request):
        """Put an issued acceptance document before the customer. Safe to repeat.

        Who signs is taken over from the version before; `signers` names others.
        """
        fields = self.validated(OpenReviewSerializer, context={"request": request})
        self.kwargs["pk"] = services.open_review(actor=request.user, **fields).pk
        return self.fresh(status.HTTP_201_CREATED)

    @extend_schema(request=NewCommentSerializer, responses=ReviewSerializer)
    @action(detail=True, methods=["post"])
    def comment(self, request, pk=None):
        """Add a remark, or answer one."""
        return self._written(NewCommentSerializer, self._comment)

    def _comment(self, *, review: Review, model: str = "", **given):
        known = models_by_code(review)
        if model and model not in known:
            raise InvalidInput(f"model: {', '.join(known)}")
        return services.comment(review=review, model=known.get(model), **given)

    @extend_schema(request=ResolveSerializer, responses=ReviewSerializer)
    @action(detail=True, methods=["post"])
    def resolve(self, request, pk=None):
        """Note that a remark is settled."""
        return self._written(ResolveSerializer, self._resolve)

    def _resolve(self, *, actor, review: Review, comment):
        found = get_object_or_404(review.comments.visible_to(actor), pk=comment.pk)
        return services.resolve_comment(actor=actor, comment=found)

    @extend_schema(responses=DeliverableSerializer(many=True), filters=False)
    @action(detail=True, pagination_class=None)
    def deliverables(self, request, pk=None):
        """The check-list of deliverables with their receipts."""
        rows = deliverables_of(self.get_object(), request.LANGUAGE_CODE)
        return Response(DeliverableSerializer(rows, many=True).data)

    @extend_schema(responses=RetestRowSerializer(many=True), filters=False)
    @action(detail=True, pagination_class=None)
    def retest(self, request, pk=None):
        """What the document said of each criterion beside what is judged now."""
        rows = compare_with_current(self.get_object(), request.LANGUAGE_CODE)
        return Response(RetestRowSerializer(rows, many=True).data)

    @extend_schema(request={"multipart/form-data": NoticeProofSerializer},
                   responses=ReviewSerializer)
    @action(detail=True, methods=["post"])
    def notice(self, request, pk=None):
        """Record proof that the customer was given notice."""
        return self._written(NoticeProofSerializer, services.record_notice)

    @extend_schema(responses=BINARY)
    @action(detail=True, url_path=r"signatures/(?P<row>\d+)/scan")
    def scan(self, request, pk=None, row=None) -> FileResponse:
        """The scan of signed and sealed paper."""
        found = get_object_or_404(self.get_object().signatures.exclude(scan=""), pk=row)
        return download(found.scan, found.scan_name)

    @extend_schema(responses=BINARY)
    @action(detail=True, url_path=r"notice-proofs/(?P<row>\d+)/file")
    def notice_file(self, request, pk=None, row=None) -> FileResponse:
        """The receipt of a notice."""
        found = get_object_or_404(self.get_object().notice_proofs.exclude(file=""), pk=row)
        return download(found.file, found.file_name)

    @extend_schema(request=IdentifySerializer, responses=ReviewSerializer)
    @action(detail=True, methods=["post"])
    def identify(self, request, pk=None):
        """Accept the terms of signing and have a one-time code sent by e-mail."""
        return self._written(IdentifySerializer, services.begin_signing,
                             ip_address=request.META.get("REMOTE_ADDR"))

    @extend_schema(request=SignSerializer, responses=ReviewSerializer)
    @action(detail=True, methods=["post"])
    def sign(self, request, pk=None):
        """Sign the content hash of the decided document with the code or the passkey's answer."""
        return self._written(SignSerializer, services.sign, **signature_origin(request))

    @extend_schema(responses=PasskeyRequestSerializer, filters=False)
    @action(detail=True, pagination_class=None)
    def passkey(self, request, pk=None):
        """What the signer's passkey has to answer for `sign`, after `identify` with that way."""
        review = self.get_object()
        found = open_identification(request.user, review, statement_hash(statement_of(review)))
        return Response({"request": found and passkey_request(found)})

    def _written(self, serializer, service, **extra) -> Response:
        fields = self.validated(serializer)
        service(actor=self.request.user, review=self.get_object(), **fields, **extra)
        return self.fresh()


routes = [("reviews", ReviewViewSet, "review"), *contract_terms.routes,
          *third_party_reports.routes, *blocker_waivers.routes]
