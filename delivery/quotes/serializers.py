from rest_framework import serializers

from delivery.quotes.documents import facts_of
from delivery.quotes.models import PriceLine, Quote, QuoteLine, RateCard


class QuoteLineSerializer(serializers.ModelSerializer):
    class Meta:
        model = QuoteLine
        exclude = ["quote"]


class QuoteSerializer(serializers.ModelSerializer):
    lines = QuoteLineSerializer(many=True, read_only=True)
    totals = serializers.SerializerMethodField()

    class Meta:
        model = Quote
        fields = ["id", "engagement", "number", "version", "state", "quote_date", "valid_until",
                  "currency", "discount_rate", "discount_reason", "payment_terms", "notes",
                  "notes_en", "source_note", "created_by", "approved_by", "issued_at",
                  "content_hash", "lines", "totals"]
        read_only_fields = ["number", "version", "state", "quote_date", "created_by",
                            "approved_by", "issued_at", "content_hash", "payment_terms",
                            "currency"]
        extra_kwargs = {"valid_until": {"required": False}}

    def get_totals(self, quote) -> dict:
        facts = facts_of(quote)
        return {**facts["totals"], "words": facts["words"]}


class AddLineSerializer(serializers.Serializer):
    price = serializers.PrimaryKeyRelatedField(queryset=PriceLine.objects.all())
    quantity = serializers.DecimalField(max_digits=12, decimal_places=2, required=False)
    months = serializers.DecimalField(max_digits=6, decimal_places=2, default=1)


class QuoteMoveSerializer(serializers.Serializer):
    move = serializers.ChoiceField(
        choices=["submit", "approve", "issue", "return", "accept", "decline"])
    reason = serializers.CharField(required=False, default="", allow_blank=True)


class PriceLineSerializer(serializers.ModelSerializer):
    class Meta:
        model = PriceLine
        exclude = ["card"]


class RateCardSerializer(serializers.ModelSerializer):
    lines = PriceLineSerializer(many=True, read_only=True)

    class Meta:
        model = RateCard
        fields = ["id", "name", "valid_from", "valid_to", "source", "stated_total", "lines"]
