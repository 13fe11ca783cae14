"""Nodes as the API shows and takes them: cards, logins, queue, inventories, reservations."""

from typing import ClassVar

from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engagements.models import Engagement
from engagements.web.engagement_codes import NamesEngagement
from engagements.web.visible_field import VisibleField
from workers.models import (
    Card,
    ImportedNode,
    Node,
    NodeContact,
    NodeImport,
    NodeLogin,
    NodeReservation,
    Trouble,
)
from workers.models.node import COMMAND_ROLES, USERNAME
from workers.nodes import conditions
from workers.nodes.conditions import LEVELS
from workers.services import node_imports


class CardSerializer(serializers.ModelSerializer):
    class Meta:
        model = Card
        exclude = ["node"]


class NodeReasonSerializer(serializers.Serializer):
    level = serializers.ChoiceField(LEVELS)
    word = serializers.CharField(help_text="empty for a remark")
    sentence = serializers.CharField()
    blocks = serializers.BooleanField(help_text="no job starts for it")
    card = serializers.IntegerField(allow_null=True)


class NodeConditionSerializer(serializers.Serializer):
    """What is the matter with a node, worst first; the worst is what lists show."""

    level = serializers.ChoiceField(LEVELS)
    word = serializers.CharField(source="worst.word")
    reasons = NodeReasonSerializer(many=True)


class NodeSerializer(serializers.ModelSerializer):
    """A node; the credentials go in and never come out."""

    private_key = serializers.CharField(
        write_only=True, required=False, allow_blank=True,
        help_text="OpenSSH or PEM; without one the worker's SSH agent is asked.")
    passphrase = serializers.CharField(write_only=True, required=False, allow_blank=True)
    scheduler_secret = serializers.CharField(
        write_only=True, required=False, allow_blank=True, max_length=20_000,
        help_text="Of a cluster's API: a service account's token (Kubernetes, Volcano) or the "
                  "secret access key (ModelArts).")
    cards = CardSerializer(many=True, read_only=True)
    command_roles = serializers.ListField(
        child=serializers.ChoiceField([(role.value, role.label) for role in COMMAND_ROLES]),
        required=False, help_text="Roles that may run free commands here; empty for nobody.")
    has_read_cards = serializers.BooleanField(
        read_only=True, help_text="Whether npu-smi has shown the cards; else they were typed in.")
    trouble = serializers.ChoiceField(Trouble.choices, read_only=True, allow_blank=True)
    offered_fingerprint = serializers.SerializerMethodField()
    pinned_fingerprint = serializers.SerializerMethodField()
    condition = serializers.SerializerMethodField()

    class Meta:
        model = Node
        fields = ["id", "name", "host", "port", "username", "private_key", "passphrase", "state",
                  "is_practice", "is_customers", "scratch_dir", "set_env", "container_engine",
                  "container_options", "command_roles", "file_roots", "transfer_mbit",
                  "cluster_address",
                  "cluster_interface", "labels", "cards_total", "temperature_limit", "ring_size",
                  "keep_days", "disk_warning_mb", "disk_stop_mb",
                  "bastion_host", "bastion_port", "bastion_username",
                  "bastion_host_key", "jump_hosts", "certificate", "scheduler",
                  "scheduler_options", "scheduler_secret", "scheduler_facts", "software", "offers",
                  "last_seen_at", "unreachable_since", "trouble",
                  "last_error", "shell_seconds", "clock_offset_seconds", "scratch_used_mb",
                  "scratch_free_mb", "disk_full_at",
                  "offered_fingerprint", "pinned_fingerprint", "has_read_cards",
                  "cards", "condition"]
        read_only_fields = ["state", "software", "offers", "scheduler_facts", "last_seen_at",
                            "unreachable_since", "trouble", "last_error", "shell_seconds",
                            "clock_offset_seconds", "scratch_used_mb", "scratch_free_mb",
                            "disk_full_at"]

    def get_offered_fingerprint(self, node) -> str:
        return _fingerprint(node.offered_host_key)

    def get_pinned_fingerprint(self, node) -> str:
        return _fingerprint(node.host_key)

    @extend_schema_field(NodeConditionSerializer)
    def get_condition(self, node) -> dict:
        """All nodes of a list are looked at together."""
        if "conditions" not in self.context or node.pk not in self.context["conditions"]:
            asked = self.parent.instance if self.parent is not None else [node]
            self.context["conditions"] = conditions.conditions_of(asked, timezone.now())
        return NodeConditionSerializer(self.context["conditions"][node.pk]).data


def _fingerprint(key: str) -> str:
    from workers.nodes.ssh import fingerprint

    return fingerprint(key) if key else ""


class MaintenanceSerializer(serializers.Serializer):
    on = serializers.BooleanField()
    until = serializers.DateTimeField(required=False, help_text="ends by itself then")
    stops_jobs_at = serializers.DateTimeField(
        required=False, help_text="what still runs then is ended; else jobs go on")
    reason = serializers.CharField(required=False, allow_blank=True, max_length=160)


class DiskContentSerializer(serializers.Serializer):
    name = serializers.CharField()
    mb = serializers.FloatField()
    jobs = serializers.IntegerField(allow_null=True)


class DiskSerializer(serializers.Serializer):
    used_mb = serializers.IntegerField(allow_null=True)
    free_mb = serializers.IntegerField(allow_null=True)
    is_full = serializers.BooleanField(help_text="no job starts")
    full_at = serializers.DateTimeField(allow_null=True)
    forecast = serializers.CharField()
    contents = DiskContentSerializer(many=True)


class CleanUpSerializer(serializers.Serializer):
    days = serializers.IntegerField(min_value=0, max_value=3650, help_text="since the end")
    only_succeeded = serializers.BooleanField(default=False)
    dry_run = serializers.BooleanField(default=True)


class CleanUpRowSerializer(serializers.Serializer):
    job = serializers.IntegerField(source="job.pk")
    kb = serializers.IntegerField(source="job.folder_kb", allow_null=True)
    why_kept = serializers.CharField(help_text="empty for one that goes")


class NodeBulkSerializer(serializers.Serializer):
    """`action` says which of the fields count."""

    action = serializers.ChoiceField(["settings", "maintenance", "keys"])
    nodes = serializers.ListField(child=serializers.IntegerField(), min_length=1, max_length=1000)
    add_labels = serializers.CharField(required=False, allow_blank=True, max_length=160)
    remove_labels = serializers.CharField(required=False, allow_blank=True, max_length=160)
    keep_days = serializers.IntegerField(required=False, min_value=0, max_value=3650)
    disk_warning_mb = serializers.IntegerField(required=False, min_value=0)
    disk_stop_mb = serializers.IntegerField(required=False, min_value=0)
    temperature_limit = serializers.IntegerField(required=False, min_value=40, max_value=120)
    transfer_mbit = serializers.IntegerField(required=False, min_value=0)
    starts_at = serializers.DateTimeField(required=False)
    ends_at = serializers.DateTimeField(required=False)
    stops_jobs_at = serializers.DateTimeField(required=False)
    reason = serializers.CharField(required=False, max_length=160)

    OF_ACTION: ClassVar = {
        "settings": ("add_labels", "remove_labels", "keep_days", "disk_warning_mb",
                     "disk_stop_mb", "temperature_limit", "transfer_mbit"),
        "maintenance": ("starts_at", "ends_at", "stops_jobs_at", "reason"), "keys": ()}
    NEEDED: ClassVar = {"maintenance": ("starts_at", "ends_at", "reason")}

    def validate(self, attrs: dict) -> dict:
        missing = [name for name in self.NEEDED.get(attrs["action"], ()) if name not in attrs]
        if missing:
            raise serializers.ValidationError(dict.fromkeys(missing, _("Required.")), "of_action")
        allowed = {"action", "nodes", *self.OF_ACTION[attrs["action"]]}
        if others := sorted(set(attrs) - allowed):
            raise serializers.ValidationError(
                dict.fromkeys(others, _("Not of this action.")), "of_action")
        return attrs


class NodeOutcomeSerializer(serializers.Serializer):
    node = serializers.CharField(source="node.name")
    refusal = serializers.CharField(help_text="empty where the change was made")


class RowTrialSerializer(serializers.Serializer):
    place = serializers.CharField()
    fingerprint = serializers.CharField()
    refusal = serializers.CharField(help_text="empty for a row that can be enrolled")


class PasswordSerializer(serializers.Serializer):
    password = serializers.CharField(write_only=True, trim_whitespace=False, max_length=400)


class TrialSerializer(serializers.Serializer):
    """How long the log-in shell takes before it runs a command."""

    shell_seconds = serializers.FloatField()


class ContactSerializer(serializers.ModelSerializer):
    class Meta:
        model = NodeContact
        fields = ["is_reachable", "trouble", "cause", "at"]


class RunningRowSerializer(serializers.Serializer):
    """A job on the node; `job` is null where the user may not see it."""

    job = serializers.IntegerField(source="job.pk", default=None, allow_null=True)
    state = serializers.CharField(source="state.state")
    cards = serializers.ListField(child=serializers.IntegerField())
    expected = serializers.DateTimeField(
        allow_null=True, help_text="when it may end; none if it is overdue")


class WaitingRowSerializer(serializers.Serializer):
    job = serializers.IntegerField(source="job.pk", default=None, allow_null=True)
    place = serializers.IntegerField(allow_null=True)
    cards = serializers.IntegerField()
    priority = serializers.CharField()
    expected = serializers.DateTimeField(allow_null=True, help_text="when its turn may come")
    expected_text = serializers.CharField(help_text="that, or after what it may come")
    reason = serializers.CharField()


class QueueSerializer(serializers.Serializer):
    free = serializers.IntegerField(help_text="cards that no job holds")
    running = RunningRowSerializer(many=True)
    waiting = WaitingRowSerializer(many=True)


class NodeLoginSerializer(NamesEngagement):
    """The user and key of one engagement at a node; the key goes in and never comes out."""

    private_key = serializers.CharField(
        write_only=True, required=False, allow_blank=True,
        help_text="In a change: absent keeps the stored key, empty gives it up for the agent.")
    passphrase = serializers.CharField(write_only=True, required=False, allow_blank=True)

    class Meta:
        model = NodeLogin
        fields = ["id", "node", "engagement", "username", "private_key", "passphrase",
                  "certificate", "created_at", "withdrawn_at", "refused_at", "refused_cause"]
        read_only_fields = ["created_at", "withdrawn_at", "refused_at", "refused_cause"]


class ConfirmSerializer(serializers.Serializer):
    fingerprint = serializers.CharField()


class ImportedNodeSerializer(serializers.ModelSerializer):
    """How far the first look at an imported node is."""

    offered_fingerprint = serializers.SerializerMethodField()

    class Meta:
        model = ImportedNode
        fields = ["id", "node", "place", "state", "cause", "offered_fingerprint"]

    def get_offered_fingerprint(self, look) -> str:
        return _fingerprint(look.node.offered_host_key)


class InventoryFaultSerializer(serializers.Serializer):
    place = serializers.CharField(help_text="row of the table, or host")
    column = serializers.CharField()
    sentence = serializers.CharField()


class NodeImportSerializer(serializers.ModelSerializer):
    """An inventory with its faults; once applied, its nodes."""

    faults = serializers.SerializerMethodField()
    nodes = ImportedNodeSerializer(many=True, read_only=True)

    class Meta:
        model = NodeImport
        fields = ["id", "file_name", "sha256", "format", "username", "secrets", "created_by",
                  "created_at", "applied_at", "faults", "nodes"]

    @extend_schema_field(InventoryFaultSerializer(many=True))
    def get_faults(self, source) -> list:
        faults = [] if source.applied_at else node_imports.table_of(source).faults
        return InventoryFaultSerializer(faults, many=True).data


class InventoryUploadSerializer(serializers.Serializer):
    file = serializers.FileField()
    username = serializers.RegexField(USERNAME.regex, required=False, default="", allow_blank=True,
                                      max_length=60)


class InventoryKeySerializer(serializers.Serializer):
    private_key = serializers.CharField(required=False, default="", allow_blank=True)
    passphrase = serializers.CharField(required=False, default="", allow_blank=True)
    is_practice = serializers.BooleanField(required=False, default=False)


class FingerprintsSerializer(serializers.Serializer):
    fingerprints = serializers.DictField(
        child=serializers.CharField(), help_text="id of the imported node: fingerprint compared")

    def validate_fingerprints(self, value) -> dict[int, str]:
        if not all(name.isascii() and name.isdigit() for name in value):
            raise serializers.ValidationError(
                "Keys are ids of imported nodes.", code="does_not_exist")
        return {int(name): shown for name, shown in value.items()}


class NodeReservationSerializer(NamesEngagement):
    engagement = VisibleField(queryset=Engagement.objects.all(), required=False,
                              allow_null=True)
    is_over_reservations = serializers.BooleanField(
        default=False, write_only=True,
        help_text="Maintenance may meet reservations of engagements; their managers are told.")

    class Meta:
        model = NodeReservation
        fields = ["id", "node", "engagement", "cards", "starts_at", "ends_at",
                  "stops_jobs_at", "reason", "is_over_reservations"]


class CardQuotaSerializer(serializers.Serializer):
    id = serializers.IntegerField(read_only=True, allow_null=True)  # null: the limit went
    engagement = VisibleField(queryset=Engagement.objects.all())
    cards = serializers.IntegerField(min_value=1, max_value=10_000, allow_null=True)
