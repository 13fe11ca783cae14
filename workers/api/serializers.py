"""Jobs, artifacts, rules and runtimes as the API shows and takes them."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engagements.models import Engagement, MigratedModel
from engagements.web.allowed_moves import AllowedMovesField
from engagements.web.engagement_codes import NamesEngagement
from engagements.web.exposure import ForTheFirm
from engagements.web.visible_field import VisibleField
from toolreaders.masking import mask_tree
from workers.api.file_serializers import JobInputSerializer, JobLogSerializer
from workers.artifacts import provenance
from workers.dispatch.transitions import TRANSITIONS
from workers.jobs.readable_values import readable
from workers.kinds import JobKind
from workers.labels.refusals import refusal_sentence
from workers.logs import customer_text, diagnosis
from workers.models import (
    Artifact,
    Job,
    JobTemplate,
    Node,
    Priority,
    Purpose,
    ReadingState,
    Runtime,
    RuntimeChoice,
    StoredReading,
)
from workers.models.gang import MOST_RESTARTS


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


class JobSerializer(ForTheFirm, NamesEngagement):
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
    plan = serializers.RegexField(
        "^[0-9a-f]{64}$", required=False, write_only=True,
        help_text="The hash of `jobs/plan/`: another job than that is refused.")
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
        fields = ["id", "kind", "engagement", "model", "stage", "purpose", "node", "nodes",
                  "restarts", "template", "chosen_runtime", "plan", "runtime", "nodes_wanted",
                  "members", "part_of",
                  "rank", "login", "is_practice", "priority", "priority_reason", "hold_reason",
                  "parameters", "command", "cards_wanted", "state", "attempt", "retry_of",
                  "created_by", "agent", "created_at", "started_at", "finished_at", "sentence",
                  "technical_cause", "diagnosis", "exit_status", "results", "progress_done",
                  "progress_total", "last_loss", "heartbeat_at", "cancel_requested_at",
                  "inputs", "logs", "allowed_moves"]
        read_only_fields = [f for f in fields if f not in (
            "kind", "engagement", "model", "stage", "purpose", "node", "nodes", "restarts",
            "template", "chosen_runtime", "plan", "parameters", "priority",
            "priority_reason")]

    def to_representation(self, job):
        """What looks like a secret in parameters and command only its author reads; customers read
        neither names of nodes nor paths on them."""
        shown, user = super().to_representation(job), self.context["request"].user
        shown["sentence"] = customer_text.shown_to(user)(shown["sentence"])
        for name in {"parameters", "command"} & set(shown):
            shown[name] = readable(shown[name], user=user, author_id=job.created_by_id)
        return shown

    @extend_schema_field(MemberSerializer(many=True))
    def get_members(self, job) -> list[dict]:
        if job.nodes_wanted == 1:
            return []
        text = customer_text.shown_to(self.context["request"].user)
        return [{**row, "node_name": text(row["node_name"]), "sentence": text(row["sentence"])}
                for row in MemberSerializer(job.own_gang.present(), many=True).data]

    @extend_schema_field(DiagnosisSerializer(allow_null=True))
    def get_diagnosis(self, job) -> dict | None:
        return diagnosis.presented(job)


class ReadingSerializer(serializers.ModelSerializer):
    class Meta:
        model = StoredReading
        fields = ["id", "artifact", "kind", "reader", "reader_version", "tool", "tool_version",
                  "values", "warnings", "read_at"]


class ArtifactSerializer(NamesEngagement):
    readings = ReadingSerializer(many=True, read_only=True)
    reading_state = serializers.ChoiceField(
        ReadingState.choices, source="reading_request.state", default=None, allow_null=True,
        read_only=True, help_text="Of an upload; null for a file that was read with its job.")
    refusal = serializers.SerializerMethodField(
        help_text="Why a refused file was not read, and what to do.")
    origin = serializers.SerializerMethodField(
        help_text="Whose word it is that the file is what it claims; what only an agent declares "
                  "is no evidence.")
    purpose = serializers.SerializerMethodField(
        help_text="For which the bytes were made, as their job or their upload was declared; "
                  "empty where nobody said it.")

    class Meta:
        model = Artifact
        fields = ["id", "engagement", "model", "job", "name", "size", "sha256", "masking",
                  "is_practice", "purpose", "note", "uploaded_by", "agent", "origin", "created_at",
                  "readings", "rules", "reading_state", "refusal"]
        on_demand = ("readings",)  # of a list, see the view's `include`

    def get_refusal(self, artifact) -> str:
        request = getattr(artifact, "reading_request", None)
        return refusal_sentence(request) if request else ""

    @extend_schema_field(serializers.ChoiceField(provenance.Origin.choices))
    def get_origin(self, artifact) -> str:
        return _known(artifact).origin

    def get_purpose(self, artifact) -> str:
        return _known(artifact).purpose


def _known(artifact: Artifact) -> provenance.Provenance:
    return getattr(artifact, "known", None) or provenance.of(artifact)  # see the view's page


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


class SourceUploadSerializer(serializers.Serializer):
    engagement = VisibleField(queryset=Engagement.objects.all())
    model = VisibleField(queryset=MigratedModel.objects.all(), required=False, allow_null=True)
    upload = serializers.FileField()
    note = serializers.CharField(max_length=240, required=False, default="", allow_blank=True)


class UploadSerializer(SourceUploadSerializer):  # clients of 1.1.0 know it by this name
    purpose = serializers.ChoiceField(Purpose.choices, required=False, default="",
                                      allow_blank=True)


class PurposeSerializer(serializers.Serializer):
    """What a stored file was really made for, and why that is said only now."""

    purpose = serializers.ChoiceField(Purpose.choices)
    reason = serializers.CharField(max_length=240)


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


class JobPlanErrorSerializer(serializers.Serializer):
    """`parameter` is empty where the sentence is about no single one."""

    parameter = serializers.CharField()
    sentence = serializers.CharField()


class JobPlanSerializer(serializers.Serializer):
    """With `errors` there is no `plan`. `hours_left` are those of the agent that asks."""

    plan = serializers.CharField()
    command = serializers.SerializerMethodField()
    card_hours = serializers.DecimalField(9, 2)
    hours_left = serializers.DecimalField(9, 2, allow_null=True)
    errors = serializers.SerializerMethodField()
    warnings = serializers.ListField(child=serializers.CharField())

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_command(self, plan) -> list[str]:
        return mask_tree(plan.command)

    @extend_schema_field(JobPlanErrorSerializer(many=True))
    def get_errors(self, plan) -> list[dict]:
        return [{"parameter": name, "sentence": sentence} for name, sentence in plan.errors]


class JobReasonSerializer(serializers.Serializer):
    reason = serializers.CharField(max_length=160)


class OptionalReasonSerializer(serializers.Serializer):
    reason = serializers.CharField(required=False, allow_blank=True, max_length=160, help_text=(
        "Needed where an operator ends a project's job."))


class PrioritySerializer(JobReasonSerializer):
    priority = serializers.ChoiceField(Priority.choices)


class WaitingSerializer(serializers.Serializer):
    node = serializers.CharField(source="node.name")
    sentences = serializers.ListField(child=serializers.CharField())


class LogSerializer(serializers.Serializer):
    text = serializers.CharField()
    next_offset = serializers.IntegerField()


class LogHitSerializer(serializers.Serializer):
    """`found` is the offset of the line; before `searched_to` nothing was searched yet."""

    found = serializers.IntegerField(allow_null=True)
    line = serializers.CharField()
    searched_to = serializers.IntegerField()


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


class RuntimeChoiceSerializer(NamesEngagement):
    """Whose jobs get which runtime; a model or engagement with a node means there only."""

    runtime = VisibleField(queryset=Runtime.objects.in_use())
    node = VisibleField(queryset=Node.objects.all(), required=False, allow_null=True)
    engagement = VisibleField(queryset=Engagement.objects.all(), required=False, allow_null=True)
    model = VisibleField(queryset=MigratedModel.objects.all(), required=False, allow_null=True)

    class Meta:
        model = RuntimeChoice
        fields = ["id", "runtime", "node", "engagement", "model"]
        validators = []  # a new choice replaces one for the same jobs
