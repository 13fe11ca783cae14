"""What the engagements teach, as REST endpoints."""

from django.utils import timezone
from drf_spectacular.helpers import forced_singular_serializer
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.portal.learning import experience
from delivery.portal.learning.card_hours import card_hours
from delivery.quotes.benefit import benefits_of
from engagements.access import Can, allowed, require
from engagements.models import MigratedModel
from engagements.remembered_reads import reading_once
from engagements.web.strict_filters import KnownParameters
from workers.card_usage import question

DAYS = {"max_digits": 12, "decimal_places": 2}


class CommonRiskSerializer(serializers.Serializer):
    title = serializers.CharField()
    engagements = serializers.IntegerField()
    occurred = serializers.IntegerField()
    score = serializers.DecimalField(max_digits=4, decimal_places=1)


class DaysSerializer(serializers.Serializer):
    label = serializers.CharField()
    quoted = serializers.DecimalField(**DAYS)
    planned = serializers.DecimalField(**DAYS)
    used = serializers.DecimalField(**DAYS)


class SimilarModelSerializer(serializers.Serializer):
    engagement = serializers.CharField(source="model.engagement.code")
    model = serializers.CharField(source="model.code")
    parameters_billion = serializers.DecimalField(
        max_digits=9, decimal_places=3, source="model.parameters_billion", allow_null=True)
    planned = serializers.DecimalField(**DAYS)
    used = serializers.DecimalField(**DAYS)


class LearningSerializer(serializers.Serializer):
    """Of the newest engagements that you see: person-days and risks by title."""

    engagements = serializers.IntegerField()
    risks = CommonRiskSerializer(many=True)
    by_grade = DaysSerializer(many=True)
    by_stage = DaysSerializer(many=True)


class CardHoursSerializer(serializers.Serializer):
    """Card hours in the period; `amount` quoted for resources, tax included, and what that is for
    each of these hours; null where nobody can say, or without the right to see prices."""

    engagement = serializers.CharField(source="engagement.code")
    customer = serializers.CharField(source="engagement.customer.localized_name")
    hours = serializers.DecimalField(**DAYS)
    models = serializers.DictField(child=serializers.DecimalField(**DAYS))
    resources = serializers.CharField()
    amount = serializers.SerializerMethodField()
    per_hour = serializers.SerializerMethodField()
    currency = serializers.CharField()

    def get_amount(self, row) -> str | None:
        return self._price(row.amount)

    def get_per_hour(self, row) -> str | None:
        return self._price(row.per_hour)

    def _price(self, value) -> str | None:
        return f"{value:.2f}" if self.context["with_price"] and value is not None else None


class BenefitSerializer(serializers.Serializer):
    """Share of time saved × card hours × price of a card hour, each with its derivation; null
    where it is unknown. `is_planned`: of a month on the model's cards, else of what its jobs
    held."""

    model = serializers.CharField(source="model.code")
    saved = serializers.DecimalField(max_digits=9, decimal_places=4, allow_null=True)
    hours = serializers.DecimalField(**DAYS, allow_null=True)
    is_planned = serializers.BooleanField()
    per_hour = serializers.DecimalField(max_digits=12, decimal_places=4, allow_null=True,
                                        source="price.per_hour", default=None)
    amount = serializers.DecimalField(max_digits=16, decimal_places=2, allow_null=True)
    currency = serializers.CharField()
    gain_sentence = serializers.CharField()
    hours_sentence = serializers.CharField()
    price_sentence = serializers.CharField()


class LearningViewSet(KnownParameters, viewsets.ViewSet):
    @extend_schema(responses=forced_singular_serializer(LearningSerializer))
    def list(self, request):
        """Commonest risks; quoted, planned and used days by grade and by stage."""
        require(request.user, Can.VIEW_INTERNAL)
        keys = experience.newest(request.user)
        return Response(LearningSerializer({
            "engagements": len(keys), "risks": experience.commonest_risks(keys),
            "by_grade": experience.days_by_grade(keys),
            "by_stage": experience.days_by_stage(keys)}).data)

    @extend_schema(responses=SimilarModelSerializer(many=True), parameters=[
        OpenApiParameter("task", OpenApiTypes.STR, required=True)])
    @action(detail=False, query_parameters=("task",))
    def similar(self, request):
        """Models of a task with their planned and used days."""
        require(request.user, Can.VIEW_INTERNAL)
        return Response(SimilarModelSerializer(experience.similar_models(
            experience.newest(request.user), request.query_params.get("task", "")),
            many=True).data)

    @extend_schema(responses=CardHoursSerializer(many=True), parameters=[
        OpenApiParameter("from", OpenApiTypes.STR), OpenApiParameter("to", OpenApiTypes.STR)])
    @action(detail=False, query_parameters=("from", "to"))
    def cards(self, request):
        """Card hours of a period by engagement and model, beside the quoted resources."""
        require(request.user, Can.VIEW_INTERNAL)
        rows = card_hours(request.user, question(request.query_params, timezone.now()))
        return Response(CardHoursSerializer(rows, many=True, context={
            "with_price": allowed(request.user, Can.PRICE)}).data)

    @extend_schema(responses=BenefitSerializer(many=True), parameters=[
        OpenApiParameter("engagement", OpenApiTypes.STR, required=True)])
    @action(detail=False, query_parameters=("engagement",))
    def benefits(self, request):
        """What the tuning of an engagement's models is worth."""
        require(request.user, Can.VIEW_INTERNAL)
        models = MigratedModel.objects.visible_to(request.user).current().filter(
            engagement__code=request.query_params.get("engagement", ""))
        with reading_once():
            found = [one for model in models for one in benefits_of(model)]
        return Response(BenefitSerializer(found, many=True).data)


routes = [("learning", LearningViewSet, "learning")]
