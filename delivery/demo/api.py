"""The practice data as a REST endpoint."""

from drf_spectacular.helpers import forced_singular_serializer
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.demo.practice_removal import real_things, remove_practice
from delivery.demo.progress_labels import banner
from delivery.demo.sample_node import ask_for_practice_node
from engagements.access import require_administrator
from engagements.models import Engagement, User
from engagements.web.scoped_viewset import DeclaredEndpoint


class PracticeSerializer(serializers.Serializer):
    """`engagements`: codes of those with practice data; `real`: what keeps them from removal;
    `done` of `total` parts while they are made, else null."""

    engagements = serializers.ListField(child=serializers.CharField())
    real = serializers.ListField(child=serializers.CharField())
    sentence = serializers.CharField()
    done = serializers.IntegerField(allow_null=True)
    total = serializers.IntegerField(allow_null=True)


@extend_schema_field({"type": "boolean", "enum": [True]})
class TrueField(serializers.BooleanField):
    """A confirmation."""


class RemovalSerializer(serializers.Serializer):
    password = serializers.CharField()
    is_confirmed = TrueField()

    def validate_is_confirmed(self, value):
        if not value:
            raise serializers.ValidationError("true")
        return value


class PracticeViewSet(DeclaredEndpoint, viewsets.ViewSet):
    @extend_schema(responses=forced_singular_serializer(PracticeSerializer))
    def list(self, request):
        """What practice data there is, and how far it has been made. For administrators."""
        require_administrator(request.user)
        shown = banner()
        codes = Engagement.objects.filter(has_practice_data=True).values_list("code", flat=True)
        return Response(PracticeSerializer({
            "engagements": list(codes), "real": real_things(),
            "sentence": shown.sentence if shown else "", "done": shown and shown.done,
            "total": shown and shown.total}).data)

    @extend_schema(request=RemovalSerializer, responses={204: None})
    @action(detail=False, methods=["post"])
    def removal(self, request):
        """Empties the database; the administrator stays with the new password. All tokens end."""
        given = self.validated(RemovalSerializer)
        remove_practice(actor=User.objects.get(pk=request.user.pk),
                        password=given["password"])
        return Response(status=204)

    @extend_schema(request=None, responses={204: None}, extensions={"x-refusals": [409]})
    @action(detail=False, methods=["post"])
    def node(self, request):
        """Let `./desk run` start and enrol a practice node, where it runs and there is none."""
        ask_for_practice_node(actor=request.user)
        return Response(status=204)


routes = [("practice", PracticeViewSet, "practice")]
