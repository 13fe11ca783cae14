from dataclasses import asdict
from decimal import ROUND_HALF_UP, Decimal

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from delivery.documents.models import Currency
from delivery.quotes import payment, standard_conditions
from delivery.quotes.frameworks import Usage, usage_of
from delivery.quotes.models import (
    FrameworkContract,
    PriceImport,
    PriceLine,
    Quote,
    QuoteAnswer,
    QuoteFile,
    QuoteLine,
    RateCard,
    TaxRate,
)
from delivery.quotes.prices.table import FIELDS, price_table
from delivery.quotes.queries import totals_of
from delivery.quotes.services.drafts import MAX_MILESTONES
from delivery.quotes.snapshot import GRADES
from delivery.quotes.transitions import TRANSITIONS, QuoteMove
from engagements.access import Can, allowed
from engagements.models import AuditEntry, Engagement
from engagements.web.allowed_moves import AllowedMovesField
from engagements.web.engagement_codes import NamesEngagement
from engagements.web.exposure import ForTheFirm
from engagements.web.visible_field import VisibleField


class QuoteLineSerializer(serializers.ModelSerializer):
    """A line; its internal cost only for those who price."""

    class Meta:
        model = QuoteLine
        exclude = ["quote"]
        read_only_fields = ["position", "code"]

    def to_representation(self, instance):
        data = super().to_representation(instance)
        if not allowed(self.context["request"].user, Can.PRICE):
            data.pop("unit_cost")
        return data


class QuoteListSerializer(serializers.ListSerializer):
    """Many quotes: their totals are read together."""

    def to_representation(self, data):
        rows = list(data)
        self.child.totals_of_all = totals_of(rows)
        return super().to_representation(rows)


class QuoteSerializer(ForTheFirm, NamesEngagement):
    """A quote. Send back the `revision` you saw; a newer one answers 409.

    Notes, reasons and approval chain of the firm are for its own people.
    """

    totals = serializers.SerializerMethodField()
    current_state = serializers.CharField(read_only=True)
    revision = serializers.IntegerField(required=False)

    class Meta:
        model = Quote
        for_the_firm = ("internal_note", "source_note", "discount_reason", "created_by",
                        "reviewed_by", "reviewed_at", "approved_by", "approved_at")
        list_serializer_class = QuoteListSerializer
        fields = ["id", "engagement", "number", "version", "state", "current_state", "revision",
                  "subject", "subject_en", "quote_date", "valid_until", "currency",
                  "exchange_rate", "discount_rate", "discount_reason", "invoice",
                  "relation", "payment_terms", "staffing", "conditions", "notes", "notes_en",
                  "source_note", "internal_note", "change_reason", "created_by", "reviewed_by",
                  "reviewed_at", "approved_by", "approved_at", "issued_at", "answered_at",
                  "answer_reason", "content_hash", "totals"]
        read_only_fields = ["number", "version", "state", "quote_date", "created_by",
                            "reviewed_by", "reviewed_at", "approved_by", "approved_at",
                            "issued_at", "content_hash", "payment_terms",
                            "staffing", "conditions", "change_reason", "answered_at",
                            "answer_reason"]
        extra_kwargs = {"valid_until": {"required": False}}

    def get_totals(self, quote) -> dict:
        known = getattr(self, "totals_of_all", None) or totals_of([quote])
        return known[quote.pk]


class QuoteFileSerializer(serializers.ModelSerializer):
    class Meta:
        model = QuoteFile
        fields = ["language", "format", "size", "sha256", "created_at"]


class QuoteDetailSerializer(QuoteSerializer):
    """`files`: those of an issued quote that are stored."""

    files = QuoteFileSerializer(many=True, read_only=True)
    lines = serializers.SerializerMethodField()
    allowed_moves = AllowedMovesField(TRANSITIONS)

    class Meta(QuoteSerializer.Meta):
        fields = [*QuoteSerializer.Meta.fields, "files", "lines", "allowed_moves"]

    @extend_schema_field(QuoteLineSerializer(many=True))
    def get_lines(self, quote) -> list[dict]:
        """As the serializer of lines shows them, without a field's work per figure: of 5,000
        lines that takes longer than all the rest."""
        names = set(QuoteLineSerializer().fields)
        if not allowed(self.context["request"].user, Can.PRICE):
            names.discard("unit_cost")
        return [{name: f"{value:f}" if isinstance(value, Decimal) else value
                 for name, value in row.items()} for row in quote.lines.values(*names)]


class CallOffSerializer(serializers.Serializer):
    engagement = serializers.PrimaryKeyRelatedField(queryset=Engagement.objects.all())


class FrameworkContractSerializer(serializers.ModelSerializer):
    """Sums incl. tax in the price list's currency: `accepted` and `offered` by call-offs, `left` of
    the ceiling (null without one). `terms`: the quote whose payment and written terms count."""

    terms = VisibleField(queryset=Quote.objects.all(), required=False, allow_null=True)
    currency = serializers.CharField(source="card.currency", read_only=True)
    accepted = serializers.SerializerMethodField()
    offered = serializers.SerializerMethodField()
    left = serializers.SerializerMethodField()

    class Meta:
        model = FrameworkContract
        fields = ["id", "customer", "number", "name", "valid_from", "valid_to", "card", "currency",
                  "discount_rate", "ceiling", "terms", "accepted", "offered", "left",
                  "created_by", "created_at"]
        read_only_fields = ["created_by", "created_at"]
        extra_kwargs = {"number": {"validators": []}}

    def _usage(self, contract) -> Usage:
        usage = self.context.setdefault("usage", {})
        if contract.pk not in usage:
            shown = self.parent.instance if self.parent else [contract]
            usage.update(usage_of(shown))
        return usage[contract.pk]

    def get_accepted(self, contract) -> str:
        return f"{self._usage(contract).accepted:.2f}"

    def get_offered(self, contract) -> str:
        return f"{self._usage(contract).offered:.2f}"

    def get_left(self, contract) -> str | None:
        left = self._usage(contract).left
        return None if left is None else f"{left:.2f}"


class ChangeFrameworkSerializer(serializers.ModelSerializer):
    """What may change; the rest is another contract."""

    class Meta:
        model = FrameworkContract
        fields = ["name", "valid_to", "ceiling"]
        extra_kwargs = {"name": {"required": False}}


class AddLineSerializer(serializers.Serializer):
    price = serializers.PrimaryKeyRelatedField(queryset=PriceLine.objects.all())
    quantity = serializers.DecimalField(max_digits=12, decimal_places=2, required=False)
    months = serializers.DecimalField(max_digits=6, decimal_places=2, default=1)
    revision = serializers.IntegerField(required=False)


class ResourcesSerializer(serializers.Serializer):
    """`revision` as seen; without it the newest draft is changed."""

    card = serializers.PrimaryKeyRelatedField(queryset=RateCard.objects.all())
    months = serializers.DecimalField(max_digits=6, decimal_places=2, min_value=0)
    revision = serializers.IntegerField(required=False)


class FreeLineSerializer(QuoteLineSerializer):
    """`revision` as seen; without it the newest draft is changed."""

    revision = serializers.IntegerField(required=False, write_only=True)


class MilestoneTermSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=80)
    name_en = serializers.CharField(max_length=80, default="", allow_blank=True)
    percent = serializers.DecimalField(max_digits=5, decimal_places=2, min_value=0, max_value=100)
    days = serializers.IntegerField(min_value=0, max_value=999, default=None, allow_null=True,
                                    help_text="due after the invoice")


class StaffSerializer(serializers.Serializer):
    grade = serializers.ChoiceField(GRADES)
    people = serializers.IntegerField(min_value=1, max_value=99, default=None, allow_null=True)
    days = serializers.DecimalField(max_digits=8, decimal_places=2, min_value=0)


class PaymentSerializer(serializers.Serializer):
    """`revision` as seen; without it the newest draft is changed."""

    payment_terms = MilestoneTermSerializer(many=True, required=False, max_length=MAX_MILESTONES)
    staffing = StaffSerializer(many=True, required=False, max_length=MAX_MILESTONES)
    revision = serializers.IntegerField(required=False)

    def validate_payment_terms(self, rows: list[dict]) -> list[dict]:
        return payment.milestone_rows(rows)

    def validate_staffing(self, rows: list[dict]) -> list[dict]:
        return payment.staffing_rows(rows)


class ConditionSerializer(serializers.Serializer):
    zh = serializers.CharField(max_length=2000, default="", allow_blank=True)
    en = serializers.CharField(max_length=2000, default="", allow_blank=True)


class BlocksSerializer(serializers.Serializer):
    """The written blocks, each in Chinese and English."""

    def get_fields(self):
        return {code: ConditionSerializer(required=False) for code in standard_conditions.TITLES}


class ConditionsSerializer(serializers.Serializer):
    """`revision` as seen; without it the newest draft is changed."""

    conditions = BlocksSerializer()
    revision = serializers.IntegerField(required=False)

    def validate_conditions(self, blocks: dict) -> dict:
        return {code: blocks.get(code, {"zh": "", "en": ""}) for code in standard_conditions.TITLES}


class LineMarginSerializer(serializers.Serializer):
    """`source`: the line's own cost, that of its grade, or none; then cost and margin are null."""

    code = serializers.CharField()
    name = serializers.CharField()
    grade = serializers.CharField()
    net = serializers.DecimalField(max_digits=18, decimal_places=2)
    cost = serializers.DecimalField(max_digits=18, decimal_places=2, allow_null=True)
    margin = serializers.DecimalField(max_digits=18, decimal_places=2, allow_null=True)
    rate = serializers.DecimalField(max_digits=None, decimal_places=None, allow_null=True)
    source = serializers.ChoiceField(["line", "grade", ""])


class MarginSerializer(serializers.Serializer):
    """`unknown` lines have no cost and are left out; `rate` is a fraction of the net amount."""

    net = serializers.DecimalField(max_digits=18, decimal_places=2)
    cost = serializers.DecimalField(max_digits=18, decimal_places=2, allow_null=True)
    margin = serializers.DecimalField(max_digits=18, decimal_places=2, allow_null=True)
    rate = serializers.DecimalField(max_digits=None, decimal_places=None, allow_null=True)
    unknown = serializers.IntegerField()
    lines = LineMarginSerializer(many=True)


class HistorySerializer(serializers.ModelSerializer):
    class Meta:
        model = AuditEntry
        fields = ["at", "actor", "action", "data"]


class CloseSerializer(serializers.Serializer):
    """The last day on which the price list is valid."""

    valid_to = serializers.DateField()


class QuoteMoveSerializer(serializers.Serializer):
    move = serializers.ChoiceField(choices=QuoteMove.choices)
    reason = serializers.CharField(required=False, default="", allow_blank=True)


class LossSerializer(serializers.Serializer):
    cause = serializers.CharField()
    number = serializers.IntegerField()


class WonAndLostSerializer(serializers.Serializer):
    """Won and lost engagements of a quarter; 0 is the whole year. `rate` is won of decided, a
    fraction, null where nothing was decided; `amount` in yuan without tax, without the `unpriced`
    quotes of which no exchange rate is known."""

    quarter = serializers.IntegerField()
    won = serializers.IntegerField()
    lost = serializers.IntegerField()
    rate = serializers.DecimalField(6, 4, allow_null=True, rounding=ROUND_HALF_UP)
    amount = serializers.DecimalField(18, 2, rounding=ROUND_HALF_UP)
    unpriced = serializers.IntegerField()
    causes = LossSerializer(many=True)


class QuoteAnswerSerializer(serializers.ModelSerializer):
    """An answer given outside the portal; it counts once `is_confirmed`. `file`: the scan of what
    is written."""

    class Meta:
        model = QuoteAnswer
        fields = ["id", "quote", "is_accepted", "way", "given_on", "given_by", "reason",
                  "file_name", "sha256", "recorded_by", "recorded_at", "is_confirmed",
                  "checked_by", "checked_at", "remark"]
        read_only_fields = ["quote", "file_name", "sha256", "recorded_by", "recorded_at",
                            "is_confirmed", "checked_by", "checked_at", "remark"]


class RecordAnswerSerializer(QuoteAnswerSerializer):
    file = serializers.FileField(required=False, write_only=True, allow_empty_file=True)

    class Meta(QuoteAnswerSerializer.Meta):
        fields = ["is_accepted", "way", "given_on", "given_by", "file", "reason"]


class CheckAnswerSerializer(serializers.Serializer):
    """`remark` says what is wrong with an answer that is not confirmed."""

    is_confirmed = serializers.BooleanField()
    remark = serializers.CharField(max_length=400, required=False, default="", allow_blank=True)


class CopySerializer(serializers.Serializer):
    """The engagement that the copy is for."""

    engagement = VisibleField(queryset=Engagement.objects.all())


class NewVersionSerializer(serializers.Serializer):
    reason = serializers.CharField(max_length=240)


class ChangeSerializer(serializers.Serializer):
    label = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()
    difference = serializers.DecimalField(max_digits=18, decimal_places=2, allow_null=True)


class ChangedLineSerializer(serializers.Serializer):
    line = serializers.DictField()
    changes = ChangeSerializer(many=True)
    difference = serializers.DecimalField(max_digits=18, decimal_places=2, allow_null=True)


class ComparisonSerializer(serializers.Serializer):
    added = serializers.ListField(child=serializers.DictField())
    removed = serializers.ListField(child=serializers.DictField())
    changed = ChangedLineSerializer(many=True)
    totals = ChangeSerializer(many=True)
    terms = ChangeSerializer(many=True)


class QuoteCheckSerializer(serializers.Serializer):
    code = serializers.CharField()
    is_met = serializers.BooleanField()
    sentence = serializers.CharField()
    url = serializers.CharField()


class PriceLineSerializer(serializers.ModelSerializer):
    class Meta:
        model = PriceLine
        exclude = ["card", "unit_cost"]


class RateCardSerializer(serializers.ModelSerializer):
    class Meta:
        model = RateCard
        fields = ["id", "name", "currency", "valid_from", "valid_to", "source", "stated_total"]


class RateCardDetailSerializer(RateCardSerializer):
    lines = PriceLineSerializer(many=True, read_only=True)

    class Meta(RateCardSerializer.Meta):
        fields = [*RateCardSerializer.Meta.fields, "lines"]


class PriceUploadSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120)
    valid_from = serializers.DateField()
    valid_to = serializers.DateField(required=False, allow_null=True)
    file = serializers.FileField()


class ColumnsSerializer(serializers.Serializer):
    header_row = serializers.IntegerField(min_value=1)
    columns = serializers.DictField(child=serializers.IntegerField(min_value=0),
                                    help_text=f"field: column from 0; {', '.join(FIELDS)}")


class PriceImportSerializer(serializers.ModelSerializer):
    """An upload with what it would become: lines, faults, warnings, arithmetic."""

    table = serializers.SerializerMethodField()

    class Meta:
        model = PriceImport
        fields = ["id", "name", "valid_from", "valid_to", "file_name", "sha256", "sheet",
                  "header_row", "columns", "created_by", "created_at", "card", "table"]

    def get_table(self, source) -> dict:
        table = price_table(source)
        return {"lines": len(table.lines), "errors": table.errors[:100],
                "warnings": table.warnings[:100], "sentence": table.sentence,
                "stated": None if table.printed_total is None else f"{table.printed_total:.2f}",
                "computed": f"{table.computed:.2f}", "difference": f"{table.difference:.2f}"}


class TaxRateSerializer(serializers.ModelSerializer):
    class Meta:
        model = TaxRate
        fields = "__all__"


class CurrencySerializer(serializers.ModelSerializer):
    class Meta:
        model = Currency
        fields = "__all__"


def comparison_data(found) -> dict:
    """A comparison as plain data."""
    return ComparisonSerializer(asdict(found)).data
