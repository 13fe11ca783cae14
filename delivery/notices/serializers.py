"""Notices and channels as the API shows them; addresses and secrets only go in."""

from rest_framework import serializers

from delivery.notices.event_kinds import CODES
from delivery.notices.models import (
    Channel,
    Dispatch,
    MailSetting,
    Notice,
    Pace,
    SendAttempt,
)
from engagements.web.engagement_codes import NamesEngagement


class NoticeSerializer(serializers.ModelSerializer):
    kind = serializers.CharField(source="event.kind")
    outcome = serializers.CharField(source="event.outcome")
    title = serializers.CharField(source="event.title")
    about = serializers.CharField(source="event.about")
    engagement = serializers.CharField(source="event.project")
    path = serializers.CharField(source="event.path")
    at = serializers.DateTimeField(source="event.at")

    class Meta:
        model = Notice
        fields = ["id", "kind", "outcome", "title", "about", "engagement", "path", "at", "read_at"]
        read_only_fields = fields


class ReadCountSerializer(serializers.Serializer):
    read = serializers.IntegerField()


class ChannelSerializer(NamesEngagement):
    url = serializers.CharField(write_only=True, required=False, max_length=2000)
    secret = serializers.CharField(write_only=True, required=False, allow_blank=True,
                                   max_length=400)
    address = serializers.CharField(source="masked_url", read_only=True)
    kinds = serializers.ListField(child=serializers.ChoiceField(CODES), required=False)

    class Meta:
        model = Channel
        fields = ["id", "name", "kind", "url", "secret", "address", "engagement", "kinds",
                  "is_for_customers", "pace", "language", "state", "failures"]
        read_only_fields = ["state", "failures"]

    def validate(self, attrs):
        if self.instance is None and not attrs.get("url"):
            message = self.fields["url"].error_messages["required"]
            raise serializers.ValidationError({"url": message}, code="required_at_first")
        return attrs


class NewSecretSerializer(ChannelSerializer):
    """A channel with the secret that was made just now; it is not answered again."""

    new_secret = serializers.CharField(read_only=True)

    class Meta(ChannelSerializer.Meta):
        fields = [*ChannelSerializer.Meta.fields, "new_secret"]


class ReplaySerializer(serializers.Serializer):
    since = serializers.DateTimeField()


class ReplayedSerializer(serializers.Serializer):
    events = serializers.IntegerField()


class SendAttemptSerializer(serializers.ModelSerializer):
    class Meta:
        model = SendAttempt
        fields = ["id", "channel", "at", "events", "is_test", "is_ok", "http_status", "failure",
                  "duration_ms", "message_id", "payload", "answer"]
        read_only_fields = fields


class SwitchSerializer(serializers.Serializer):
    on = serializers.BooleanField()


class DispatchSerializer(serializers.ModelSerializer):
    kind = serializers.CharField(source="event.kind")
    about = serializers.CharField(source="event.about")

    class Meta:
        model = Dispatch
        fields = ["id", "kind", "about", "channel", "recipient", "state", "attempts", "due_at",
                  "sent_at", "failure"]
        read_only_fields = fields


class PreferenceSerializer(serializers.Serializer):
    """One kind of event: whether in the inbox, and at what pace by e-mail."""

    kind = serializers.ChoiceField(CODES)
    in_inbox = serializers.BooleanField()
    email = serializers.ChoiceField(Pace.choices)


class MailSettingSerializer(serializers.ModelSerializer):
    """Hours of Asia/Shanghai; both ends of the quiet hours, or neither."""

    class Meta:
        model = MailSetting
        fields = ["language", "quiet_from", "quiet_until"]
        validators = []


class PreferencesSerializer(serializers.Serializer):
    engagement = serializers.CharField(required=False, allow_blank=True, default="",
                                       help_text="Project code; empty: in general.")
    choices = PreferenceSerializer(many=True)
