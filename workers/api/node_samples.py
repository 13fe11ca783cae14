"""REST endpoints of what cards and hosts did while jobs ran, and of alarms of cards."""

import django_filters
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engagements.web.scoped_viewset import ScopedViewSet
from workers.models import CARD_VALUES, CardAlarm, NodeSample


class CardValuesSerializer(serializers.Serializer):
    """One card's values; null where its tool did not tell."""

    card = serializers.IntegerField()
    utilisation = serializers.FloatField(allow_null=True, help_text="per cent of the AI cores")
    memory_mb = serializers.FloatField(allow_null=True)
    power_w = serializers.FloatField(allow_null=True)
    temperature_c = serializers.FloatField(allow_null=True)


class NodeSampleSerializer(serializers.ModelSerializer):
    """One look at a node, or the mean of the looks of `seconds` seconds."""

    cards = serializers.SerializerMethodField()

    class Meta:
        model = NodeSample
        fields = ["id", "node", "at", "seconds", "cards", "load", "memory_mb"]

    @extend_schema_field(CardValuesSerializer(many=True))
    def get_cards(self, sample) -> list[dict]:
        return [{"card": int(index), **dict(zip(CARD_VALUES, values, strict=False))}
                for index, values in sorted(sample.cards.items(), key=lambda item: int(item[0]))]


class CardAlarmSerializer(serializers.ModelSerializer):
    class Meta:
        model = CardAlarm
        fields = ["id", "node", "card_index", "kind", "value", "since", "seen_at", "cleared_at"]


class SampleFilter(django_filters.FilterSet):
    since = django_filters.IsoDateTimeFilter("at", "gte")
    until = django_filters.IsoDateTimeFilter("at", "lte")

    class Meta:
        model = NodeSample
        fields = ["node"]


class NodeSampleViewSet(ScopedViewSet):
    """What cards and host did while jobs ran, oldest first; looks older than a day are means."""

    queryset = NodeSample.objects.order_by("at", "pk")
    serializer_class = NodeSampleSerializer
    filterset_class = SampleFilter


class CardAlarmViewSet(ScopedViewSet):
    """What was wrong with cards, newest first; `cleared_at` is null while it lasts."""

    queryset = CardAlarm.objects.all()
    serializer_class = CardAlarmSerializer
    filterset_fields = ["node", "kind", "card_index"]


routes = [
    ("node-samples", NodeSampleViewSet, "node-sample"),
    ("card-alarms", CardAlarmViewSet, "card-alarm"),
]
