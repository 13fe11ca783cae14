"""REST endpoints of the inbox and of channels. Each write is one service call."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.notices import queries, serializers, services
from delivery.notices.models import Channel, Dispatch, Notice
from engagements.models import Engagement


class NoticeViewSet(viewsets.ReadOnlyModelViewSet):
    """One's own inbox; `?unread=1`, `?kind=` and `?engagement=` filter it."""

    queryset = Notice.objects.none()
    serializer_class = serializers.NoticeSerializer

    def get_queryset(self):
        return queries.filtered(Notice.objects.visible_to(self.request.user),
                                self.request.query_params)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def read(self, request, pk=None):
        """Mark it read."""
        notice = services.mark_read(actor=request.user, notice=self.get_object())
        return Response(self.get_serializer(notice).data)

    @extend_schema(request=None, responses=serializers.ReadCountSerializer)
    @action(detail=False, methods=["post"], url_path="read-all")
    def read_all(self, request):
        """Mark the whole inbox read."""
        return Response({"read": services.mark_all_read(actor=request.user)})

    @extend_schema(responses=serializers.PreferenceSerializer(many=True), filters=False,
                   parameters=[OpenApiParameter("engagement", str, description="project code")])
    @action(detail=False, pagination_class=None)
    def preferences(self, request):
        """What one hears of: in general, or of an engagement."""
        engagement = self._named(request.query_params.get("engagement", ""))
        return self._preferences(engagement)

    @extend_schema(request=serializers.PreferencesSerializer,
                   responses=serializers.PreferenceSerializer(many=True))
    @preferences.mapping.post
    def set_preferences(self, request):
        """Choose what to hear of; answers with what counts now."""
        serializer = serializers.PreferencesSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        engagement = self._named(serializer.validated_data["engagement"])
        services.set_preferences(
            actor=request.user, engagement=engagement,
            choices={row["kind"]: {"in_inbox": row["in_inbox"], "email": row["email"]}
                     for row in serializer.validated_data["choices"]})
        return self._preferences(engagement)

    def _named(self, code: str) -> Engagement | None:
        visible = Engagement.objects.visible_to(self.request.user)
        return get_object_or_404(visible, code=code) if code else None

    def _preferences(self, engagement: Engagement | None) -> Response:
        rows = queries.preference_rows(self.request.user, engagement)
        return Response(serializers.PreferenceSerializer(rows, many=True).data)


class ChannelViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin,
                     viewsets.ReadOnlyModelViewSet):
    """Robots and webhooks. Addresses and secrets are never answered."""

    queryset = Channel.objects.all()
    serializer_class = serializers.ChannelSerializer
    filterset_fields = ["kind", "state", "engagement"]

    def get_queryset(self):
        return super().get_queryset().visible_to(self.request.user)

    def perform_create(self, serializer):
        serializer.instance = services.create_channel(
            actor=self.request.user, **serializer.validated_data)

    def perform_update(self, serializer):
        serializer.instance = services.update_channel(
            actor=self.request.user, channel=serializer.instance, **serializer.validated_data)

    @extend_schema(request=serializers.SwitchSerializer)
    @action(detail=True, methods=["post"])
    def switch(self, request, pk=None):
        """Switch on or off."""
        serializer = serializers.SwitchSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        channel = services.switch_channel(actor=request.user, channel=self.get_object(),
                                          is_on=serializer.validated_data["on"])
        return Response(self.get_serializer(channel).data)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def test(self, request, pk=None):
        """Send a test message now; 409 with the reason if it does not arrive."""
        channel = self.get_object()
        services.send_test_message(actor=request.user, channel=channel)
        return Response(self.get_serializer(channel).data)


class DispatchViewSet(viewsets.ReadOnlyModelViewSet):
    """What was sent, waits or was given up."""

    queryset = Dispatch.objects.select_related("event__engagement")
    serializer_class = serializers.DispatchSerializer
    filterset_fields = ["state", "channel"]

    def get_queryset(self):
        return super().get_queryset().visible_to(self.request.user)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def again(self, request, pk=None):
        """Send one that was given up again."""
        dispatch = services.send_again(actor=request.user, dispatch=self.get_object())
        return Response(self.get_serializer(dispatch).data)


routes = [("notices", NoticeViewSet, "notice"),
          ("notice-channels", ChannelViewSet, "notice-channel"),
          ("notice-dispatches", DispatchViewSet, "notice-dispatch")]
