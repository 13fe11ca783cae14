from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engagements.models import Engagement, MigratedModel
from engagements.web.allowed_moves import AllowedMovesField
from engagements.web.exposure import ForTheFirm
from engagements.web.visible_field import VisibleField
from workers.api.file_serializers import JobInputSerializer, JobLogSerializer
from workers.jobs.transitions import TRANSITIONS
from workers.kinds import JobKind
from workers.logs import diagnosis
from workers.models import (
    Artifact,
    Card,
    ImportedNode,
    Job,
    JobTemplate,
    Node,
    NodeContact,
    NodeImport,
    NodeLogin,
    NodeReservation,
    Runtime,
    RuntimeChoice,
    StoredReading,
    Trouble,
)
from workers.models.gang import MOST_RESTARTS
from workers.models.node import COMMAND_ROLES, USERNAME
from workers.services import node_imports


class CardSerializer(serializers.ModelSerializer):
    class Meta:
        model = Card
        exclude = ["node"]


class NodeSerializer(serializers.ModelSerializer):
    """A node; the credentials go in and never come out."""

    private_key = serializers.CharField(
        write_only=True, required=False, allow_blank=True,
        help_text="OpenSSH or PEM; without one the worker's SSH agent is asked.")
    passphrase = serializers.CharField(write_only=True, required=False, allow_blank=True)
    scheduler_secret = serializers.CharField(
        write_only=True, required=False, allow_blank=True,
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

    class Meta:
        model = Node
        fields = ["id", "name", "host", "port", "username", "private_key", "passphrase", "state",
                  "is_practice", "is_customers", "scratch_dir", "set_env", "container_engine",
                  "container_options", "command_roles", "file_roots", "transfer_mbit",
                  "cluster_address",
                  "cluster_interface", "labels", "cards_total", "ring_size",
                  "keep_days", "bastion_host", "bastion_port", "bastion_username",
                  "bastion_host_key", "jump_hosts", "certificate", "scheduler",
                  "scheduler_options", "scheduler_secret", "scheduler_facts", "software", "offers",
                  "last_seen_at", "unreachable_since", "trouble",
                  "last_error", "shell_seconds", "clock_offset_seconds", "scratch_used_mb",
                  "scratch_free_mb", "offered_fingerprint", "pinned_fingerprint", "has_read_cards",
                  "cards"]
        read_only_fields = ["state", "software", "offers", "scheduler_facts", "last_seen_at",
                            "unreachable_since", "trouble", "last_error", "shell_seconds",
                            "clock_offset_seconds", "scratch_used_mb", "scratch_free_mb"]

    def get_offered_fingerprint(self, node) -> str:
        return _fingerprint(node.offered_host_key)

    def get_pinned_fingerprint(self, node) -> str:
        return _fingerprint(node.host_key)


def _fingerprint(key: str) -> str:
    from workers.nodes.ssh import fingerprint

    return fingerprint(key) if key else ""


class MaintenanceSerializer(serializers.Serializer):
    on = serializers.BooleanField()


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
    reason = serializers.CharField()


class QueueSerializer(serializers.Serializer):
    free = serializers.IntegerField(help_text="cards that no job holds")
    running = RunningRowSerializer(many=True)
    waiting = WaitingRowSerializer(many=True)


class NodeLoginSerializer(serializers.ModelSerializer):
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


class DiagnosisSerializer(serializers.Serializer):
    """Why the job failed: the log's line that shows it, what to do, and who says so."""

    line = serializers.IntegerField(allow_null=True)
    quote = serializers.CharField()
    remedy = serializers.CharField()
    source = serializers.CharField()
    kind_says = serializers.CharField()


class MemberSerializer(serializers.ModelSerializer):
    """The part of a job on several nodes that runs on one of them."""

    node_name = serializers.CharField(source="node.name", read_only=True)
    sentence = serializers.CharField(read_only=True)
    cards = serializers.JSONField(source="results.cards", default=list, read_only=True)

    class Meta:
        model = Job
        fields = ["id", "rank", "node", "node_name", "attempt", "state", "sentence", "cards",
                  "exit_status", "started_at", "finished_at", "progress_done", "last_loss"]
        read_only_fields = fields


class JobSerializer(ForTheFirm, serializers.ModelSerializer):
    nodes = VisibleField(
        queryset=Node.objects.all(), many=True, required=False, write_only=True,
        help_text="Several that run the job together; ranks meet on the first.")
    restarts = serializers.IntegerField(
        required=False, write_only=True, min_value=0, max_value=MOST_RESTARTS,
        help_text="How often all nodes may begin again after a failure.")
    chosen_runtime = VisibleField(
        queryset=Runtime.objects.in_use(), required=False, allow_null=True, write_only=True,
        help_text="For this job; else that of its model, its engagement or its node.")
    template = VisibleField(
        queryset=JobTemplate.objects.all(), required=False, allow_null=True, write_only=True,
        help_text="Gives the parameters and the runtime that are not given here.")
    runtime = serializers.JSONField(
        read_only=True, help_text="As the job keeps it; empty for the node as it is.")
    members = serializers.SerializerMethodField()
    part_of = serializers.IntegerField(source="gang.job_id", read_only=True, default=None,
                                       allow_null=True)
    sentence = serializers.CharField(read_only=True)
    allowed_moves = AllowedMovesField(TRANSITIONS)
    diagnosis = serializers.SerializerMethodField()
    inputs = JobInputSerializer(many=True, read_only=True)
    logs = JobLogSerializer(many=True, read_only=True)

    class Meta:
        model = Job
        for_the_firm = ("login", "parameters", "command", "technical_cause", "diagnosis",
                        "results", "progress_done", "progress_total", "heartbeat_at", "runtime")
        fields = ["id", "kind", "engagement", "model", "stage", "node", "nodes", "restarts",
                  "template", "chosen_runtime", "runtime", "nodes_wanted", "members", "part_of",
                  "rank", "login", "is_practice", "priority",
                  "parameters", "command", "cards_wanted", "state", "attempt", "retry_of",
                  "created_by", "created_at", "started_at", "finished_at", "sentence",
                  "technical_cause", "diagnosis", "exit_status", "results", "progress_done",
                  "progress_total", "last_loss", "heartbeat_at", "cancel_requested_at",
                  "inputs", "logs", "allowed_moves"]
        read_only_fields = [f for f in fields if f not in (
            "kind", "engagement", "model", "stage", "node", "nodes", "restarts",
            "template", "chosen_runtime", "parameters", "priority")]

    @extend_schema_field(MemberSerializer(many=True))
    def get_members(self, job) -> list[dict]:
        if job.nodes_wanted == 1:
            return []
        return MemberSerializer(job.own_gang.present(), many=True).data

    @extend_schema_field(DiagnosisSerializer(allow_null=True))
    def get_diagnosis(self, job) -> dict | None:
        return diagnosis.told(job)


class ReadingSerializer(serializers.ModelSerializer):
    class Meta:
        model = StoredReading
        fields = ["id", "artifact", "kind", "reader", "reader_version", "tool", "tool_version",
                  "values", "warnings", "read_at"]


class ArtifactSerializer(serializers.ModelSerializer):
    readings = ReadingSerializer(many=True, read_only=True)

    class Meta:
        model = Artifact
        fields = ["id", "engagement", "model", "job", "name", "size", "sha256", "is_practice",
                  "note", "uploaded_by", "created_at", "readings", "rules"]


class HitSerializer(serializers.Serializer):
    rule = serializers.CharField()
    severity = serializers.CharField()
    place = serializers.CharField()
    value = serializers.CharField()
    source = serializers.CharField()
    artifact = serializers.IntegerField(allow_null=True)
    text = serializers.CharField()
    action = serializers.CharField()


class NotCheckedSerializer(serializers.Serializer):
    rule = serializers.CharField()
    reason = serializers.CharField()


class OutcomeSerializer(serializers.Serializer):
    """What the rules say: hits, rules without a hit, and rules that lack data."""

    hits = HitSerializer(many=True)
    clear = serializers.ListField(child=serializers.CharField())
    not_checked = NotCheckedSerializer(many=True)


class UploadSerializer(serializers.Serializer):
    engagement = VisibleField(queryset=Engagement.objects.all())
    model = VisibleField(queryset=MigratedModel.objects.all(), required=False, allow_null=True)
    upload = serializers.FileField()
    note = serializers.CharField(required=False, default="", allow_blank=True)


class KindSerializer(serializers.Serializer):
    code = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    stages = serializers.ListField(child=serializers.CharField())
    runs_on_node = serializers.BooleanField()
    cards = serializers.IntegerField()
    time_limit_seconds = serializers.IntegerField()
    usual_seconds = serializers.IntegerField(allow_null=True)
    files = serializers.ListField(child=serializers.CharField())
    success = serializers.CharField()
    parameters = serializers.DictField()


def kind_facts(kind: JobKind) -> dict:
    """A kind as the API shows it: what the declaration says, parameters as JSON schema."""
    return {"code": kind.code, "title": str(kind.title), "description": str(kind.description),
            "stages": list(kind.stages), "runs_on_node": kind.runs_on_node, "cards": kind.cards,
            "time_limit_seconds": kind.timeout_seconds, "usual_seconds": kind.usual_seconds,
            "files": list(kind.collect), "success": str(kind.success),
            "parameters": kind.schema()}


class LogSerializer(serializers.Serializer):
    text = serializers.CharField()
    next_offset = serializers.IntegerField()


class LogHitSerializer(serializers.Serializer):
    """`found` is the offset of the line; before `searched_to` nothing was searched yet."""

    found = serializers.IntegerField(allow_null=True)
    line = serializers.CharField()
    searched_to = serializers.IntegerField()


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


class NodeReservationSerializer(serializers.ModelSerializer):
    engagement = VisibleField(queryset=Engagement.objects.all(), required=False,
                              allow_null=True)

    class Meta:
        model = NodeReservation
        fields = ["id", "node", "engagement", "cards", "starts_at", "ends_at", "reason"]


class CardQuotaSerializer(serializers.Serializer):
    id = serializers.IntegerField(read_only=True)
    engagement = VisibleField(queryset=Engagement.objects.all())
    cards = serializers.IntegerField(min_value=1, max_value=10_000, allow_null=True)


class RuntimeSerializer(serializers.ModelSerializer):
    class Meta:
        model = Runtime
        fields = ["id", "name", "place", "options", "retired_at"]
        read_only_fields = ["retired_at"]


class JobTemplateSerializer(serializers.ModelSerializer):
    """Files, paths and confirmations are left out of the parameters."""

    parameters = serializers.DictField(required=False)
    runtime = VisibleField(queryset=Runtime.objects.in_use(), required=False, allow_null=True)

    class Meta:
        model = JobTemplate
        fields = ["id", "name", "kind", "parameters", "runtime", "created_by", "created_at"]
        read_only_fields = ["created_by", "created_at"]


class TemplateNameSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=80)


class RuntimeChoiceSerializer(serializers.ModelSerializer):
    """Whose jobs get which runtime; a model or engagement with a node means there only."""

    runtime = VisibleField(queryset=Runtime.objects.in_use())
    node = VisibleField(queryset=Node.objects.all(), required=False, allow_null=True)
    engagement = VisibleField(queryset=Engagement.objects.all(), required=False, allow_null=True)
    model = VisibleField(queryset=MigratedModel.objects.all(), required=False, allow_null=True)

    class Meta:
        model = RuntimeChoice
        fields = ["id", "runtime", "node", "engagement", "model"]
        validators = []  # a new choice replaces one for the same jobs
