"""The draft of the questionnaire as the API shows it and takes its changes."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from delivery.surveys.draft_differences import differences
from delivery.surveys.models import Question, QuestionnaireDraft
from delivery.surveys.serializers import QuestionSerializer
from delivery.surveys.services.publishing import question_dicts


class DraftSerializer(serializers.ModelSerializer):
    """`edits` counts the changes; send it back as `seen`."""

    base = serializers.IntegerField(source="base.version", read_only=True)
    questions = serializers.SerializerMethodField()
    differences = serializers.SerializerMethodField()

    class Meta:
        model = QuestionnaireDraft
        fields = ["base", "edits", "changed_by", "changed_at", "questions", "differences"]

    @extend_schema_field(QuestionSerializer(many=True))
    def get_questions(self, draft) -> list[dict]:
        return draft.questions

    def get_differences(self, draft) -> list[dict]:
        """What the draft changes against its base."""
        return differences(question_dicts(draft.base), draft.questions)


class SeenSerializer(serializers.Serializer):
    seen = serializers.IntegerField(min_value=0, help_text="the draft's `edits` as read")


class PublishDraftSerializer(SeenSerializer):
    note = serializers.CharField(max_length=240, help_text="what is new, in one sentence")


class MoveQuestionSerializer(SeenSerializer):
    way = serializers.ChoiceField(["up", "down"])


class NewQuestionSerializer(SeenSerializer):
    question = QuestionSerializer()
    after = serializers.CharField(max_length=40, default="", allow_blank=True, help_text=(
        "key of the question before it; empty: at the end"))


class KnownQuestionSerializer(QuestionSerializer):
    """A question whose key stands in the address."""

    class Meta:
        model = Question
        exclude = ["id", "questionnaire", "position", "key"]


class ChangedQuestionSerializer(SeenSerializer):
    question = KnownQuestionSerializer()
