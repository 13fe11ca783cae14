"""REST endpoints of the next version of the questionnaire. Each write is one service call.

`seen` is the draft's `edits` as it was read; whoever saw an older draft gets 409.
"""

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.helpers import forced_singular_serializer
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.surveys import draft_serializers as serializers
from delivery.surveys.models import QuestionnaireDraft
from delivery.surveys.serializers import QuestionnaireSerializer
from delivery.surveys.services import questionnaire_drafts
from engagements.access import require_administrator
from engagements.web.scoped_viewset import DeclaredEndpoint

KEY = OpenApiParameter("key", OpenApiTypes.STR, OpenApiParameter.PATH)
SEEN = OpenApiParameter("seen", {"type": "integer", "minimum": 0}, required=True)


def _draft(request) -> QuestionnaireDraft:
    require_administrator(request.user)
    return get_object_or_404(QuestionnaireDraft.objects.select_related("base"))


def _answer(draft: QuestionnaireDraft, code: int = status.HTTP_200_OK) -> Response:
    return Response(serializers.DraftSerializer(draft).data, status=code)


class QuestionnaireDraftViewSet(DeclaredEndpoint, viewsets.ViewSet):
    """The draft of the next version, one for all administrators; POST begins it."""

    @extend_schema(responses=forced_singular_serializer(serializers.DraftSerializer),
                   operation_id="questionnaire_draft_retrieve")
    def list(self, request):
        """The draft, and what it changes; 404 while there is none."""
        return _answer(_draft(request))

    @extend_schema(request=None, responses={201: serializers.DraftSerializer})
    def create(self, request):
        """The open draft, or a new one with the questions of the newest version."""
        return _answer(questionnaire_drafts.begin_draft(actor=request.user),
                       status.HTTP_201_CREATED)

    @extend_schema(request=serializers.PublishDraftSerializer,
                   responses={201: QuestionnaireSerializer})
    @action(detail=False, methods=["post"])
    def publish(self, request):
        """Make it the newest version; surveys already begun keep theirs."""
        _draft(request)
        made = questionnaire_drafts.publish_draft(
            actor=request.user, **self.validated(serializers.PublishDraftSerializer))
        return Response(QuestionnaireSerializer(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=serializers.SeenSerializer, responses={204: None})
    @action(detail=False, methods=["post"])
    def discard(self, request):
        """Throw it away."""
        _draft(request)
        questionnaire_drafts.discard_draft(
            actor=request.user, **self.validated(serializers.SeenSerializer))
        return Response(status=status.HTTP_204_NO_CONTENT)


class DraftQuestionViewSet(DeclaredEndpoint, viewsets.ViewSet):
    """The questions of the draft; every answer is the whole draft with its new `edits`."""

    lookup_field = "key"
    lookup_value_regex = r"[-\w]+"

    def _known(self, key: str) -> str:
        """The key of a question of the draft, or 404."""
        if key not in [question["key"] for question in _draft(self.request).questions]:
            raise Http404
        return key

    @extend_schema(request=serializers.NewQuestionSerializer,
                   responses={201: serializers.DraftSerializer})
    def create(self, request):
        """Put a question in: behind the one named in `after`, else at the end."""
        _draft(request)
        return _answer(questionnaire_drafts.save_question(
            actor=request.user, **self.validated(serializers.NewQuestionSerializer)),
                       status.HTTP_201_CREATED)

    @extend_schema(parameters=[KEY], request=serializers.ChangedQuestionSerializer,
                   responses=serializers.DraftSerializer)
    def update(self, request, key: str):
        """Replace a question; it keeps its key."""
        known = self._known(key)
        fields = self.validated(serializers.ChangedQuestionSerializer)
        question = {**fields["question"], "key": known}
        return _answer(questionnaire_drafts.save_question(
            actor=request.user, seen=fields["seen"], question=question, key=known))

    @extend_schema(parameters=[KEY, SEEN], responses={200: serializers.DraftSerializer})
    def destroy(self, request, key: str):
        """Take a question out; `?seen=` as read."""
        fields = self.validated(serializers.SeenSerializer, data=request.query_params)
        return _answer(questionnaire_drafts.remove_question(
            actor=request.user, key=self._known(key), **fields))

    @extend_schema(parameters=[KEY], request=serializers.MoveQuestionSerializer,
                   responses=serializers.DraftSerializer)
    @action(detail=True, methods=["post"])
    def move(self, request, key: str):
        """Let it change places with its neighbour."""
        fields = self.validated(serializers.MoveQuestionSerializer)
        return _answer(questionnaire_drafts.move_question(
            actor=request.user, key=self._known(key), seen=fields["seen"],
            is_up=fields["way"] == "up"))


routes = [("questionnaire-draft", QuestionnaireDraftViewSet, "questionnaire-draft"),
          ("questionnaire-draft-questions", DraftQuestionViewSet, "questionnaire-draft-question")]
