"""The portfolio as REST endpoints."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.portal.models import SavedView
from delivery.portal.portfolio import saved_views
from delivery.portal.portfolio.charts import charts_for
from delivery.portal.portfolio.rows import portfolio_engagements, rows_of
from engagements.access import Can, allowed, require
from engagements.web.api_pagination import WindowPagination
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating, destroying
from engagements.web.strict_filters import KnownParameters

FILTERS = [OpenApiParameter(name, OpenApiTypes.STR)
           for name in ("q", "state", "owner", "mine", "late", "stage", "sort")]


class PortfolioRowSerializer(serializers.Serializer):
    """Money in yuan excluding tax; `margin_percent` for managers, else null. `next_gate` is the
    earliest stage that is not done, `next_gate_models` how many models are before it.
    `decision` is the customer's that was signed last, empty before."""

    code = serializers.CharField(source="engagement.code")
    name = serializers.CharField(source="engagement.localized_name")
    customer = serializers.CharField(source="engagement.customer.localized_name")
    state = serializers.CharField(source="engagement.state")
    owner = serializers.CharField()
    stages_passed = serializers.IntegerField()
    stages_in_scope = serializers.IntegerField()
    next_gate = serializers.CharField()
    next_gate_models = serializers.IntegerField()
    due = serializers.DateField(source="engagement.ends_on", allow_null=True)
    days_late = serializers.IntegerField()
    quoted_amount = serializers.SerializerMethodField()
    days_quoted = serializers.DecimalField(10, 2, source="effort.days_quoted")
    days_planned = serializers.DecimalField(10, 2, source="effort.days_planned")
    days_used = serializers.DecimalField(10, 2, source="effort.days_used")
    margin_percent = serializers.SerializerMethodField()
    open_risks = serializers.IntegerField()
    failing_criteria = serializers.IntegerField()
    decision = serializers.SerializerMethodField()

    def get_quoted_amount(self, row) -> str | None:
        amount = row.effort.quoted_amount if self.context["with_price"] else None
        return None if amount is None else f"{amount:.2f}"

    def get_decision(self, row) -> str:
        return row.outcome.decision if row.outcome else ""

    def get_margin_percent(self, row) -> str | None:
        percent = row.margin.get("percent")
        return None if percent is None else f"{percent:.2f}"


class BarSerializer(serializers.Serializer):
    label = serializers.CharField()
    text = serializers.CharField()
    percent = serializers.IntegerField()


class ChartSerializer(serializers.Serializer):
    title = serializers.CharField()
    note = serializers.CharField()
    bars = BarSerializer(many=True)


class PortfolioViewSet(KnownParameters, viewsets.ViewSet):
    query_parameters = (*(parameter.name for parameter in FILTERS), "page", "page_size")

    @extend_schema(responses=PortfolioRowSerializer(many=True), parameters=[
        *FILTERS, OpenApiParameter("page", OpenApiTypes.INT),
        OpenApiParameter("page_size", {"type": "integer", "minimum": 1})])
    def list(self, request):
        """Engagements with their figures, a page of them."""
        require(request.user, Can.VIEW_INTERNAL)
        pages = WindowPagination()
        pages.page_size = 25
        found = pages.paginate_queryset(
            portfolio_engagements(request.user, request.query_params), request)
        rows = rows_of(found, with_money=allowed(request.user, Can.MANAGE))
        return Response(PortfolioRowSerializer(rows, many=True, context={
            "with_price": allowed(request.user, Can.PRICE)}).data)

    @extend_schema(responses=ChartSerializer(many=True))
    @action(detail=False, query_parameters=())
    def charts(self, request):
        """Pipeline, on-time rate, person-days, verdicts and card utilisation."""
        require(request.user, Can.VIEW_INTERNAL)
        return Response(ChartSerializer(charts_for(request.user), many=True).data)


class SavedViewSerializer(serializers.ModelSerializer):
    class Meta:
        model = SavedView
        fields = ["id", "name", "query", "is_shared", "is_default"]
        extra_kwargs = {"query": {"default": ""}}
        validators = []  # the same name is replaced


class SavedViewViewSet(mixins.CreateModelMixin, mixins.DestroyModelMixin, ScopedViewSet):
    queryset = SavedView.objects.all()
    serializer_class = SavedViewSerializer
    perform_create = creating(saved_views.save_view)
    perform_destroy = destroying(saved_views.delete_view, "view")


routes = [("portfolio", PortfolioViewSet, "portfolio"),
          ("portfolio-views", SavedViewViewSet, "portfolio-view")]
