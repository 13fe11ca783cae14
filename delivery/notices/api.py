"""REST endpoints of the inbox and of channels. Each write is one service call."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.notices import queries, serializers, services
from delivery.notices.models import Channel, Dispatch, Notice, SendAttempt
from delivery.notices.transport.send_dispatches import mail_setting
from engagements.models import Engagement
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating, updating


@extend_schema_view(list=extend_schema(parameters=[
    OpenApiParameter("unread", str, description="Not empty: only what is not yet read."),
    OpenApiParameter("kind", str, description="Of events."),
    OpenApiParameter("engagement", str, description="Code of the engagement.")]))
class NoticeViewSet(ScopedViewSet):
    """One's own inbox."""

    query_parameters = ("unread", "kind", "engagement")

    queryset = Notice.objects.all()
    serializer_class = serializers.NoticeSerializer
    read = RowAction(services.mark_read, "notice", "Mark it read.",
                     answers=serializers.NoticeSerializer)

    def get_queryset(self):
        return queries.filtered(super().get_queryset(), self.request.query_params)

    @extend_schema(request=None, responses=serializers.ReadCountSerializer)
    @action(detail=False, methods=["post"], url_path="read-all")
    def read_all(self, request):
        """Mark the whole inbox read."""
        return Response({"read": services.mark_all_read(actor=request.user)})

    @extend_schema(responses=serializers.PreferenceSerializer(many=True), filters=False,
                   parameters=[OpenApiParameter("engagement", str, description="project code")])
    @action(detail=False, pagination_class=None, query_parameters=("engagement",))
    def preferences(self, request):
        """What one hears of: in general, or of an engagement."""
        engagement = self._named(request.query_params.get("engagement", ""))
        return self._preferences(engagement)

    @extend_schema(request=serializers.PreferencesSerializer,
                   responses=serializers.PreferenceSerializer(many=True))
    @preferences.mapping.post
    def set_preferences(self, request):
        """Choose what to hear of; answers with what counts now."""
        wanted = self.validated(serializers.PreferencesSerializer)
        engagement = self._named(wanted["engagement"])
        services.set_preferences(
            actor=request.user, engagement=engagement,
            choices={row["kind"]: {"in_inbox": row["in_inbox"], "email": row["email"]}
                     for row in wanted["choices"]})
        return self._preferences(engagement)

    @extend_schema(responses=serializers.MailSettingSerializer, filters=False)
    @action(detail=False, url_path="mail-setting", pagination_class=None, query_parameters=())
    def mail_setting(self, request):
        """Language and quiet hours of one's own e-mails."""
        return Response(serializers.MailSettingSerializer(mail_setting(request.user)).data)

    @extend_schema(request=serializers.MailSettingSerializer,
                   responses=serializers.MailSettingSerializer)
    @mail_setting.mapping.post
    def set_mail_setting(self, request):
        """Choose them; what is left out is cleared."""
        made = services.set_mail_setting(
            actor=request.user, **self.validated(serializers.MailSettingSerializer))
        return Response(serializers.MailSettingSerializer(made).data)

    def _named(self, code: str) -> Engagement | None:
        visible = Engagement.objects.visible_to(self.request.user)
        return get_object_or_404(visible, code=code) if code else None

    def _preferences(self, engagement: Engagement | None) -> Response:
        rows = queries.preference_rows(self.request.user, engagement)
        return Response(serializers.PreferenceSerializer(rows, many=True).data)


class ChannelViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin, ScopedViewSet):
    """Robots and webhooks. Addresses and secrets are never answered."""

    queryset = Channel.objects.all()
    serializer_class = serializers.ChannelSerializer
    filterset_fields = ["kind", "state", "engagement"]
    perform_create = creating(services.create_channel)
    perform_update = updating(services.update_channel, "channel")
    test = RowAction(services.send_test_message, "channel",
                     "Send a test message now; 409 with the reason if it does not arrive.")
    rotate_secret = RowAction(
        services.rotate_secret, "channel",
        "A new signing secret for a webhook, which only this answer holds; the old one signs\n"
        "beside it for 24 hours.", answers=serializers.NewSecretSerializer,
        url_path="rotate-secret")

    @extend_schema(responses={201: serializers.NewSecretSerializer})
    def create(self, request, *args, **kwargs):
        """A webhook without a secret is given one, which only this answer holds."""
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        self.perform_create(serializer)
        return Response(serializers.NewSecretSerializer(serializer.instance).data, status=201)

    @extend_schema(request=serializers.SwitchSerializer)
    @action(detail=True, methods=["post"])
    def switch(self, request, pk=None):
        """Switch on or off."""
        is_on = self.validated(serializers.SwitchSerializer)["on"]
        channel = services.switch_channel(actor=request.user, channel=self.get_object(),
                                          is_on=is_on)
        return self.shown(channel)

    @extend_schema(request=serializers.ReplaySerializer, responses=serializers.ReplayedSerializer)
    @action(detail=True, methods=["post"])
    def replay(self, request, pk=None):
        """Send a webhook everything again that happened since then."""
        count = services.replay(actor=request.user, channel=self.get_object(),
                                **self.validated(serializers.ReplaySerializer))
        return Response({"events": count})


class SendAttemptViewSet(ScopedViewSet):
    """The delivery log: each message that was tried; of webhooks what was sent and answered."""

    queryset = SendAttempt.objects.all()
    serializer_class = serializers.SendAttemptSerializer
    filterset_fields = ["channel", "is_ok", "is_test"]


class DispatchViewSet(ScopedViewSet):
    """What was sent, waits or was given up."""

    queryset = Dispatch.objects.select_related("event__engagement")
    serializer_class = serializers.DispatchSerializer
    filterset_fields = ["state", "channel"]
    again = RowAction(
        services.send_again, "dispatch",
        "Send one that was given up again; of a webhook also one that was sent.")


routes = [("notices", NoticeViewSet, "notice"),
          ("notice-channels", ChannelViewSet, "notice-channel"),
          ("notice-attempts", SendAttemptViewSet, "notice-attempt"),
          ("notice-dispatches", DispatchViewSet, "notice-dispatch")]
