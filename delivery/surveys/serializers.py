from rest_framework import serializers

from delivery.surveys.models import Comment, Decision, Question, Questionnaire, Survey
from delivery.surveys.transitions import TRANSITIONS, SurveyMove
from engagements.web.allowed_moves import AllowedMovesField
from engagements.web.engagement_codes import NamesEngagement


class QuestionSerializer(serializers.ModelSerializer):
    class Meta:
        model = Question
        exclude = ["id", "questionnaire", "position"]


class QuestionnaireSerializer(serializers.ModelSerializer):
    questions = QuestionSerializer(many=True, read_only=True)

    class Meta:
        model = Questionnaire
        fields = ["id", "version", "note", "created_at", "questions"]


class PublishSerializer(serializers.Serializer):
    note = serializers.CharField(max_length=240, default="", allow_blank=True)
    questions = serializers.ListField(child=serializers.DictField())


class CommentSerializer(serializers.ModelSerializer):
    key = serializers.CharField(source="question.key", read_only=True)
    model = serializers.CharField(source="model.code", read_only=True, allow_null=True)

    class Meta:
        model = Comment
        fields = ["id", "key", "model", "author", "text", "is_internal", "created_at"]


class SurveySerializer(NamesEngagement):
    allowed_moves = AllowedMovesField(TRANSITIONS)

    class Meta:
        model = Survey
        fields = ["id", "engagement", "questionnaire", "state", "submitted_by", "submitted_at",
                  "confirmed_by", "confirmed_at", "allowed_moves"]
        read_only_fields = ["questionnaire", "state", "submitted_by", "submitted_at",
                            "confirmed_by", "confirmed_at"]
        extra_kwargs = {"engagement": {"validators": []}}


class AnswerChangeSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=80)
    value = serializers.JSONField(allow_null=True)
    revision = serializers.IntegerField(min_value=0)


class AnswerChangesSerializer(serializers.Serializer):
    changes = AnswerChangeSerializer(many=True)


class AddCommentSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=80)
    text = serializers.CharField(max_length=2000)
    is_internal = serializers.BooleanField(default=False)


class SurveyMoveSerializer(serializers.Serializer):
    move = serializers.ChoiceField(SurveyMove.choices)


class TopologyCallSerializer(serializers.Serializer):
    caller = serializers.CharField()
    called = serializers.CharField()
    what = serializers.CharField()


class TopologySerializer(serializers.Serializer):
    """Components and calls of the application; `is_cut` where the answer names more than drawn."""

    components = serializers.ListField(child=serializers.CharField())
    calls = TopologyCallSerializer(many=True)
    is_cut = serializers.BooleanField()


class ReadinessEntrySerializer(serializers.Serializer):
    code = serializers.CharField()
    label = serializers.CharField()
    weight = serializers.IntegerField()
    points = serializers.IntegerField()
    is_met = serializers.BooleanField()
    is_blocking = serializers.BooleanField()
    sentence = serializers.CharField()
    url = serializers.CharField()


class ReadinessSerializer(serializers.Serializer):
    """How ready the migration is, and what is missing for going ahead."""

    score = serializers.IntegerField()
    entries = ReadinessEntrySerializer(many=True)


class ConsequenceSerializer(serializers.Serializer):
    """What follows from the answers, against what was taken over before."""

    token = serializers.CharField()
    code = serializers.CharField()
    kind = serializers.CharField()
    model = serializers.CharField(source="model.code", allow_null=True, default=None)
    status = serializers.ChoiceField(choices=["new", "changed", "applied", "gone"])
    label = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()


class TakeOverSerializer(serializers.Serializer):
    tokens = serializers.ListField(
        child=serializers.CharField(max_length=200), required=False, allow_null=True,
        help_text="Tokens as they were shown; left out, all open ones are taken over.")


class TakenOverSerializer(serializers.Serializer):
    codes = serializers.ListField(child=serializers.CharField())


class SurveyDecisionSerializer(serializers.ModelSerializer):
    class Meta:
        model = Decision
        fields = ["id", "verdict", "reason", "score", "missing", "decided_by", "decided_at"]
        read_only_fields = ["score", "missing", "decided_by", "decided_at"]


class WorkbookUploadSerializer(serializers.Serializer):
    file = serializers.FileField()
    apply = serializers.BooleanField(default=False, help_text=(
        "Without it nothing is written: the answer is a preview."))


class CellErrorSerializer(serializers.Serializer):
    sheet = serializers.CharField()
    cell = serializers.CharField()
    sentence = serializers.CharField()


class DifferenceSerializer(serializers.Serializer):
    name = serializers.CharField(source="cell.name")
    before = serializers.CharField()
    after = serializers.CharField()
    is_overtaken = serializers.BooleanField()


class WorkbookReadingSerializer(serializers.Serializer):
    """What a workbook says; `saved` names what was written, `conflicts` what was overtaken."""

    differences = DifferenceSerializer(many=True)
    errors = CellErrorSerializer(many=True)
    unchanged = serializers.IntegerField()
    saved = serializers.ListField(child=serializers.CharField())
    conflicts = serializers.ListField(child=serializers.CharField())


class SurveyVersionSerializer(serializers.Serializer):
    version = serializers.IntegerField(help_text=(
        "The newest version as it was shown; a newer one published meanwhile is refused."))


class DraftBaselineSerializer(serializers.Serializer):
    model = serializers.CharField()
    label = serializers.CharField()
    state = serializers.ChoiceField(["pending", "submitted", "passed"])
    url = serializers.CharField()
