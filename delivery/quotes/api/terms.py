"""REST endpoints of a draft's free lines and terms, and of what only the firm reads of a quote."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.quotes import queries, serializers, services
from delivery.quotes.margin import margin_of
from engagements.access import Can, require
from engagements.web.row_action import RowAction


class QuoteTerms:
    """Mixed into the viewset of quotes."""

    serializer_class = serializers.QuoteDetailSerializer
    free_lines = RowAction(services.add_free_line, "quote",
                           "Add a line that stands on no price list.",
                           serializers.FreeLineSerializer, code=status.HTTP_201_CREATED,
                           url_path="free-lines")

    @extend_schema(request=serializers.PaymentSerializer,
                   responses=serializers.QuoteDetailSerializer)
    @action(detail=True, methods=["put"])
    def payment(self, request, pk=None):
        """Replace the payment milestones, the staffing, or both; what is left out stays."""
        quote = self.get_object()
        services.update_quote(actor=request.user, quote=quote,
                              **self.validated(serializers.PaymentSerializer))
        return self.fresh()

    @extend_schema(request=serializers.ConditionsSerializer,
                   responses=serializers.QuoteDetailSerializer)
    @action(detail=True, methods=["put"])
    def conditions(self, request, pk=None):
        """Replace the written conditions; a block that is left out is empty."""
        quote = self.get_object()
        services.update_quote(actor=request.user, quote=quote,
                              **self.validated(serializers.ConditionsSerializer))
        return self.fresh()

    @extend_schema(responses=serializers.MarginSerializer)
    @action(detail=True)
    def margin(self, request, pk=None):
        """Internal cost and margin without tax; for who prices."""
        quote = self.get_object()
        require(request.user, Can.PRICE, quote.engagement)
        return Response(serializers.MarginSerializer(margin_of(quote)).data)

    @extend_schema(responses=serializers.HistorySerializer(many=True))
    @action(detail=True, pagination_class=None, filterset_fields=[])
    def history(self, request, pk=None):
        """What happened to the version, the newest first; for the firm."""
        quote = self.get_object()
        require(request.user, Can.VIEW_INTERNAL)
        return Response(serializers.HistorySerializer(queries.history(quote), many=True).data)
