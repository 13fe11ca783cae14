"""REST endpoints of quotes. Each write is one service call."""

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response

from delivery.documents.models import Currency
from delivery.documents.views.file_answers import answer_upload
from delivery.quotes import queries, serializers, services
from delivery.quotes.api.files import QuoteFiles
from delivery.quotes.margin import margin_of
from delivery.quotes.models import PriceImport, Quote, QuoteAnswer, QuoteLine, RateCard, TaxRate
from delivery.quotes.outcomes import chosen_year, outcomes_of
from delivery.quotes.quote_checks import run_checks
from delivery.quotes.transitions import DUTIES, QuoteMove
from delivery.quotes.version_comparison import compare
from engagements.access import Can, allowed, require
from engagements.web.json_parser import BoundedJSONParser
from engagements.web.missing_people import MissingPeopleAction
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import RowEndpoint, ScopedViewSet
from engagements.web.service_hooks import creating, destroying, updating
from engagements.web.strict_bodies import checked_body
from toolreaders.number_parsing import whole_number

LINE = OpenApiParameter("line", OpenApiTypes.INT, OpenApiParameter.PATH)


class FirmOnly(RowEndpoint):
    """Nothing for the customer's reviewers."""

    read_by = Can.VIEW_INTERNAL

    def get_queryset(self):
        may_read = allowed(self.request.user, self.read_by)
        return super().get_queryset() if may_read else super().get_queryset().none()


class RateCardViewSet(FirmOnly):
    queryset = RateCard.objects.all()
    filterset_fields = ["name", "currency"]
    close = RowAction(services.close_rate_card, "card",
                      "End the period of a price list; quotes keep the prices they copied.",
                      serializers.CloseSerializer, answers=serializers.RateCardSerializer)

    def get_serializer_class(self):
        return (serializers.RateCardDetailSerializer if self.action == "retrieve"
                else serializers.RateCardSerializer)


class TaxRateViewSet(FirmOnly):
    queryset = TaxRate.objects.all()
    serializer_class = serializers.TaxRateSerializer


class CurrencyViewSet(FirmOnly):
    queryset = Currency.objects.all()
    serializer_class = serializers.CurrencySerializer


class PriceImportViewSet(mixins.DestroyModelMixin, FirmOnly):
    """A price list from xlsx: upload, choose columns, confirm."""

    read_by = Can.PRICE  # cost prices may stand in the workbook
    queryset = PriceImport.objects.all()
    serializer_class = serializers.PriceImportSerializer
    parser_classes = [BoundedJSONParser, MultiPartParser]
    perform_destroy = destroying(services.discard_import, "source")
    columns = RowAction(services.map_columns, "source",
                        "Choose the row of the headings and a column per field.",
                        serializers.ColumnsSerializer)
    confirm = RowAction(services.confirm_import, "source",
                        "Create the price list, all of it or nothing.",
                        answers=serializers.RateCardSerializer, code=status.HTTP_201_CREATED)

    @extend_schema(request={"multipart/form-data": serializers.PriceUploadSerializer},
                   responses={201: serializers.PriceImportSerializer})
    def create(self, request):
        """Read a workbook; no price list exists yet."""
        require(request.user, Can.PRICE)
        fields = self.validated(serializers.PriceUploadSerializer)
        upload = fields.pop("file")
        return self.shown(services.start_import(
            actor=request.user, upload=upload, file_name=upload.name, **fields),
            status.HTTP_201_CREATED)


class QuoteViewSet(QuoteFiles, MissingPeopleAction, mixins.CreateModelMixin,
                   mixins.UpdateModelMixin, ScopedViewSet):
    duty_rule = DUTIES
    serializer_class = serializers.QuoteDetailSerializer
    queryset = Quote.objects.select_related("engagement__customer")
    filterset_fields = ["engagement", "number", "state"]
    perform_create = creating(services.create_quote, "revision")
    perform_update = updating(services.update_quote, "quote", "engagement")
    lines = RowAction(services.add_line, "quote", "Add an item of a price list.",
                      serializers.AddLineSerializer, code=status.HTTP_201_CREATED)
    free_lines = RowAction(services.add_free_line, "quote",
                           "Add a line that stands on no price list.",
                           serializers.FreeLineSerializer, code=status.HTTP_201_CREATED,
                           url_path="free-lines")
    resources = RowAction(
        services.add_resources, "quote",
        "Add all cloud resources of a price list in their usual quantities.",
        serializers.ResourcesSerializer, code=status.HTTP_201_CREATED)
    versions = RowAction(services.new_version, "quote", "Open the next version as a draft.",
                         serializers.NewVersionSerializer,
                         answers=serializers.QuoteDetailSerializer, code=status.HTTP_201_CREATED)
    copies = RowAction(services.copy_quote, "quote",
                       "A draft for another engagement with the same lines and terms.",
                       serializers.CopySerializer, answers=serializers.QuoteDetailSerializer,
                       code=status.HTTP_201_CREATED)

    def get_serializer_class(self):
        return (serializers.QuoteSerializer if self.action == "list"
                else super().get_serializer_class())

    def get_queryset(self):
        quotes = super().get_queryset()
        return quotes.defer("snapshot") if self.action == "list" else quotes

    @extend_schema(responses=serializers.WonAndLostSerializer(many=True), parameters=[
        OpenApiParameter("year", OpenApiTypes.STR, description="without one this year")])
    @action(detail=False, pagination_class=None, filterset_fields=[], query_parameters=("year",))
    def outcomes(self, request):
        """Engagements won and lost by quarter, with the reasons."""
        require(request.user, Can.PRICE)
        return Response(serializers.WonAndLostSerializer([
            {"quarter": quarter, "won": row.won, "lost": row.lost, "rate": row.rate,
             "amount": row.amount, "unpriced": row.unpriced,
             "causes": [{"cause": cause, "number": n} for cause, n in row.causes.most_common()]}
            for quarter, row in outcomes_of(
                request.user, chosen_year(request.query_params)).items()], many=True).data)

    @extend_schema(request={"multipart/form-data": serializers.RecordAnswerSerializer},
                   responses={201: serializers.QuoteAnswerSerializer})
    @action(detail=True, methods=["post"], parser_classes=[MultiPartParser, BoundedJSONParser])
    def answers(self, request, pk=None):
        """Record an answer that the customer gave outside the portal; a second person confirms
        it."""
        answer = services.record_answer(actor=request.user, quote=self.get_object(),
                                        **self.validated(serializers.RecordAnswerSerializer))
        return Response(serializers.QuoteAnswerSerializer(answer).data, status.HTTP_201_CREATED)

    @extend_schema(parameters=[LINE], request=serializers.QuoteLineSerializer, methods=["PATCH"])
    @extend_schema(parameters=[LINE], request=None, methods=["DELETE"],
                   responses={200: serializers.QuoteDetailSerializer})
    @action(detail=True, methods=["patch", "delete"], url_path=r"lines/(?P<line>\d+)")
    def line(self, request, pk=None, line=None):
        """Change or remove a line of a draft; `?revision=` as seen."""
        found = get_object_or_404(QuoteLine.objects.select_related("quote__engagement"), pk=line,
                                  quote=self.get_object())
        revision = whole_number(request.query_params.get("revision"))
        if request.method == "DELETE":
            services.remove_line(actor=request.user, line=found, revision=revision)
            return self.fresh()
        serializer = checked_body(serializers.QuoteLineSerializer(
            found, data=request.data, partial=True, context=self.get_serializer_context()))
        serializer.is_valid(raise_exception=True)
        services.update_line(actor=request.user, line=found, revision=revision,
                             **serializer.validated_data)
        return self.fresh()

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

    @extend_schema(request=serializers.QuoteMoveSerializer)
    @action(detail=True, methods=["post"])
    def move(self, request, pk=None):
        """Submit, withdraw, review, approve, issue, return, accept, decline or discard; a draft
        that is discarded is shown for the last time."""
        fields = self.validated(serializers.QuoteMoveSerializer)
        quote = self.get_object()
        if fields["move"] == QuoteMove.DISCARD:
            shown = self.shown(quote)
            services.discard_quote(actor=request.user, quote=quote)
            return shown
        services.move_quote(actor=request.user, quote=quote, **fields)
        return self.fresh()

    @extend_schema(responses=serializers.ComparisonSerializer, parameters=[
        OpenApiParameter("other", OpenApiTypes.INT, OpenApiParameter.PATH)])
    @action(detail=True, url_path=r"compare/(?P<other>\d+)")
    def compare(self, request, pk=None, other=None):
        """What changed between this version and another of the same number."""
        newer = self.get_object()
        older = get_object_or_404(self.get_queryset(), pk=other, number=newer.number)
        if newer.version < older.version:
            newer, older = older, newer
        return Response(serializers.comparison_data(compare(older, newer)))

    @extend_schema(responses=serializers.QuoteCheckSerializer(many=True))
    @action(detail=True, pagination_class=None, filterset_fields=[])
    def checks(self, request, pk=None):
        """The rules R-QUO-01 to 15 on this quote, for the firm's own people."""
        require(request.user, Can.VIEW_INTERNAL)
        found = [check.as_dict() for check in run_checks(self.get_object())]
        return Response(serializers.QuoteCheckSerializer(found, many=True).data)

    @extend_schema(responses=serializers.MarginSerializer)
    @action(detail=True)
    def margin(self, request, pk=None):
        """Internal cost and margin without tax; for managers: whoever sells could compute from
        them what a grade costs."""
        quote = self.get_object()
        require(request.user, Can.MANAGE, quote.engagement)
        return Response(serializers.MarginSerializer(margin_of(quote)).data)

    @extend_schema(responses=serializers.HistorySerializer(many=True))
    @action(detail=True, pagination_class=None, filterset_fields=[])
    def history(self, request, pk=None):
        """What happened to the version, the newest first; for the firm."""
        quote = self.get_object()
        require(request.user, Can.VIEW_INTERNAL)
        return Response(serializers.HistorySerializer(queries.history(quote), many=True).data)


class QuoteAnswerViewSet(ScopedViewSet):
    """Answers that the customer gave outside the portal; for the firm."""

    queryset = QuoteAnswer.objects.select_related("quote__engagement")
    serializer_class = serializers.QuoteAnswerSerializer
    filterset_fields = ["quote", "is_confirmed"]
    check = RowAction(services.check_answer, "answer",
                      "Confirm a recorded answer as a second person, which answers the quote; or "
                      "say what is wrong with it.", serializers.CheckAnswerSerializer)

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    @action(detail=True)
    def file(self, request, pk=None):
        """The scan of the answer."""
        answer = self.get_object()
        return answer_upload(answer.file, answer.file_name, answer)


routes = [("rate-cards", RateCardViewSet, "rate-card"), ("quotes", QuoteViewSet, "quote"),
          ("quote-answers", QuoteAnswerViewSet, "quote-answer"),
          ("price-imports", PriceImportViewSet, "price-import"),
          ("tax-rates", TaxRateViewSet, "tax-rate"),
          ("currencies", CurrencyViewSet, "currency")]
