"""REST endpoints of the ledger of payment milestones."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response

from delivery.invoicing import serializers, services
from delivery.invoicing.ledger import (
    LedgerState,
    ages_of,
    asked_for,
    entries_of,
)
from delivery.invoicing.models import Invoice
from delivery.planning.models import Milestone
from engagements.access import Can, require
from engagements.web.api_pagination import WindowPagination
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import DeclaredEndpoint, ScopedViewSet


class MilestoneViewSet(DeclaredEndpoint, viewsets.GenericViewSet):
    """Payment milestones with what they are worth, what released them, invoiced and paid."""

    serializer_class = serializers.EntrySerializer
    query_parameters = ("engagement", "state", "page", "page_size")
    filterset_fields: list[str] = []

    def get_queryset(self):
        if getattr(self, "swagger_fake_view", False):  # while the API is described
            return Milestone.objects.none()
        require(self.request.user, Can.PRICE)
        return asked_for(self.request.user, self.request.query_params)

    @extend_schema(parameters=[
        OpenApiParameter("engagement", OpenApiTypes.STR, description="code of the engagement"),
        OpenApiParameter("state", OpenApiTypes.STR, enum=LedgerState.values)])
    def list(self, request):
        """The ledger, a page of it."""
        pages = WindowPagination()
        rows = pages.paginate_queryset(self.get_queryset(), request, self)
        return pages.get_paginated_response(
            self.get_serializer(entries_of(rows), many=True).data)

    def retrieve(self, request, pk=None):
        return Response(self.get_serializer(entries_of([self.get_object()])[0]).data)

    @extend_schema(request=serializers.InvoiceSerializer,
                   responses={201: serializers.InvoiceSerializer})
    @action(detail=True, methods=["post"])
    def invoices(self, request, pk=None):
        """Note the invoice of a milestone."""
        made = services.add_invoice(actor=request.user, milestone=self.get_object(),
                                    **self.validated(serializers.InvoiceSerializer))
        return Response(serializers.InvoiceSerializer(made).data, status.HTTP_201_CREATED)


class InvoiceViewSet(ScopedViewSet):
    """Invoices and credit notes of milestones with their payments; for the firm."""

    queryset = Invoice.objects.select_related("engagement").prefetch_related("payments")
    serializer_class = serializers.InvoiceSerializer
    filterset_fields = ["engagement", "milestone", "number"]
    credit = RowAction(services.add_credit_note, "invoice",
                       "Take an invoice back by a credit note, wholly or in part.",
                       serializers.CreditNoteSerializer, answers=serializers.InvoiceSerializer,
                       code=status.HTTP_201_CREATED)
    payments = RowAction(services.add_payment, "invoice", "Note a payment.",
                         serializers.InvoicePaymentSerializer,
                         answers=serializers.InvoicePaymentSerializer,
                         code=status.HTTP_201_CREATED)

    @extend_schema(responses=serializers.AgeSerializer(many=True))
    @action(detail=False, pagination_class=None, filterset_fields=[])
    def ages(self, request):
        """What is outstanding by how long it is overdue, per currency."""
        require(request.user, Can.PRICE)
        return Response(serializers.AgeSerializer(ages_of(request.user), many=True).data)


class PaymentImportViewSet(mixins.CreateModelMixin, DeclaredEndpoint, viewsets.GenericViewSet):
    """Payments from a list of the finance system."""

    queryset = Invoice.objects.none()
    serializer_class = serializers.PaymentsFileSerializer
    parser_classes = [MultiPartParser]
    filterset_fields: list[str] = []

    @extend_schema(request={"multipart/form-data": serializers.PaymentsFileSerializer},
                   responses={201: serializers.InvoicePaymentSerializer(many=True)})
    def create(self, request):
        """All rows or none: xlsx or CSV with the columns `number`, `paid_on`, `amount`,
        `reference`; rows that were imported before are passed over."""
        made = services.import_payments(
            actor=request.user, upload=self.validated(serializers.PaymentsFileSerializer)["file"])
        return Response(serializers.InvoicePaymentSerializer(made, many=True).data,
                        status.HTTP_201_CREATED)


routes = [("milestones", MilestoneViewSet, "milestone"), ("invoices", InvoiceViewSet, "invoice"),
          ("payment-imports", PaymentImportViewSet, "payment-import")]
