"""The agreement as the API shows it, and what of it a manager may enter."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from delivery.agreement.deliverables import ITEMS
from delivery.agreement.facts import FACTS, Origin, draw, shown, told
from delivery.agreement.models import Agreement
from engagements.serializers import VisibleEngagement

LONGEST, MOST_MONTHS = 2000, 120


class NewAgreementSerializer(serializers.Serializer):
    engagement = VisibleEngagement(help_text="project code")


class AgreedSignerSerializer(serializers.Serializer):
    user = serializers.CharField(max_length=150, help_text="name of a reviewer's account")
    capacity = serializers.CharField(max_length=80, required=False, default="", allow_blank=True)


def _inputs() -> dict[str, serializers.Field]:
    """The inputs of the facts that may be entered; an empty one stands for the fact's source."""
    found: dict[str, serializers.Field] = {}
    for fact in FACTS:
        if fact.entry == "text":
            for name in (fact.name, f"{fact.name}_en"):
                found[name] = serializers.CharField(
                    max_length=LONGEST, required=False, allow_blank=True)
        elif fact.entry == "months":
            found[fact.name] = serializers.IntegerField(
                min_value=1, max_value=MOST_MONTHS, required=False, allow_null=True)
        elif fact.entry == "deliverables":
            found[fact.name] = serializers.MultipleChoiceField(
                choices=list(ITEMS), required=False)
        elif fact.entry == "signers":
            found[fact.name] = AgreedSignerSerializer(many=True, required=False)
    return found


EnteredSerializer = type("EnteredSerializer", (serializers.Serializer,), {
    "__doc__": "What a manager puts in the place of sources; an empty input gives a fact back.",
    "__module__": __name__,
    "seen": serializers.IntegerField(required=False, default=None, allow_null=True), **_inputs()})


class FactSerializer(serializers.Serializer):
    """A fact: its value as data and in words, and where it is from; null where it is not agreed."""

    name = serializers.CharField()
    label = serializers.CharField()
    value = serializers.JSONField(allow_null=True)
    text = serializers.CharField()
    source = serializers.CharField()


def fact_rows(agreement: Agreement, *, has_prices: bool = True) -> list[dict]:
    """Every fact of the table, in words of the active language."""
    return [{"name": fact.name, "label": str(fact.label), "value": agreement.value(fact.name),
             "text": shown(fact.name, agreement.value(fact.name)),
             "source": told(agreement.source(fact.name)) if agreement.source(fact.name) else ""}
            for fact in FACTS if has_prices or not fact.is_price]


class AgreementVersionSerializer(serializers.ModelSerializer):
    """A version. The facts of a draft are those of its sources now."""

    engagement = serializers.SlugRelatedField("code", read_only=True)
    facts = serializers.SerializerMethodField()

    class Meta:
        model = Agreement
        fields = ["id", "engagement", "version", "state", "basis", "agreed_at", "lock_version",
                  "facts"]
        read_only_fields = fields

    @extend_schema_field(FactSerializer(many=True))
    def get_facts(self, agreement: Agreement) -> list[dict]:
        if agreement.state == Agreement.State.DRAFT:
            agreement.values = draw(Origin(agreement.engagement), agreement.entered)
        return fact_rows(agreement)
