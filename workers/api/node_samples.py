"""REST endpoints of what cards and hosts did while jobs ran, and of alarms of cards."""

import django_filters
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from engagements.access import Can, require
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.strict_filters import KnownParameters
from workers import card_usage
from workers.models import CARD_VALUES, CardAlarm, NodeSample
from workers.services import card_alarms


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
        fields = ["id", "node", "card_index", "kind", "value", "since", "seen_at", "cleared_at",
                  "acknowledged_by", "silenced_until", "note"]


class AcknowledgeSerializer(serializers.Serializer):
    note = serializers.CharField(required=False, allow_blank=True, max_length=160)


class SilenceSerializer(serializers.Serializer):
    until = serializers.DateTimeField()
    reason = serializers.CharField(max_length=160)


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
    """What was wrong with cards and nodes, newest first; `cleared_at` is null while it lasts, and
    `card_index` for an alarm of the node."""

    queryset = CardAlarm.objects.all()
    serializer_class = CardAlarmSerializer
    filterset_fields = ["node", "kind", "card_index"]
    acknowledge = RowAction(card_alarms.acknowledge_alarm, "alarm", "Somebody looks after it.",
                            AcknowledgeSerializer)
    silence = RowAction(card_alarms.silence_alarm, "alarm",
                        "Tell nobody of it until then, even if it ends and comes again.",
                        SilenceSerializer)


class UsageRowSerializer(serializers.Serializer):
    """Card hours of a group."""

    label = serializers.CharField()
    held = serializers.FloatField()
    busy = serializers.FloatField(help_text="mean load of the AI cores, of the hours measured")
    idle = serializers.FloatField(help_text="of the hours measured")
    unknown = serializers.FloatField(help_text="held without a sample")


class LeaseRowSerializer(serializers.Serializer):
    """A lease as far as it lies in the period."""

    node = serializers.CharField()
    card = serializers.IntegerField()
    start = serializers.DateTimeField()
    end = serializers.DateTimeField()
    hours = serializers.FloatField()
    job = serializers.IntegerField(source="job.pk", allow_null=True, default=None,
                                   help_text="null for one of a project that you do not see")
    project = serializers.CharField()
    person = serializers.CharField()


class CardUsageViewSet(KnownParameters, viewsets.ViewSet):
    """Card hours of any period by node, card, project, person or day."""

    serializer_class = UsageRowSerializer
    query_parameters = ("from", "to", "by", "node", "card", "project", "person")

    @extend_schema(responses=UsageRowSerializer(many=True), parameters=[
        OpenApiParameter(name, str) for name in query_parameters])
    def list(self, request):
        """Without a period this month so far."""
        now = timezone.now()
        asked = card_usage.question(request.query_params, now)
        found = card_usage.answer(request.user, asked, now)
        return Response(UsageRowSerializer(found["rows"], many=True).data)


    @extend_schema(responses=LeaseRowSerializer(many=True), parameters=[
        OpenApiParameter(name, str) for name in query_parameters])
    @action(detail=False)
    def leases(self, request):
        """Who held which card when, newest first, of the period."""
        require(request.user, Can.VIEW_INTERNAL)
        now = timezone.now()
        asked = card_usage.question(request.query_params, now)
        found = card_usage.leases_of(request.user, asked, now)
        return Response(LeaseRowSerializer(found, many=True).data)


routes = [
    ("card-usage", CardUsageViewSet, "card-usage"),
    ("node-samples", NodeSampleViewSet, "node-sample"),
    ("card-alarms", CardAlarmViewSet, "card-alarm"),
]
