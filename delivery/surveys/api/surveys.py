"""REST endpoints of surveys. Each write is one service call."""

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.surveys import serializers, services
from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.api.consequences import ConsequenceActions
from delivery.surveys.api.drafts import routes as draft_routes
from delivery.surveys.api.workbooks import WorkbookActions
from delivery.surveys.models import Comment, Questionnaire, Survey
from delivery.surveys.services import publishing
from delivery.surveys.services.version_transfer import Transfer, transfer
from delivery.surveys.topology import topology_of
from engagements.access import Can, require
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import RowEndpoint, ScopedViewSet
from engagements.web.service_hooks import creating


class QuestionnaireViewSet(mixins.CreateModelMixin, RowEndpoint):
    queryset = Questionnaire.objects.prefetch_related("questions")
    serializer_class = serializers.QuestionnaireSerializer

    @extend_schema(request=serializers.PublishSerializer)
    def create(self, request, *args, **kwargs):
        """A new version."""
        made = publishing.publish_questionnaire(
            actor=request.user, **self.validated(serializers.PublishSerializer))
        return self.shown(made, status.HTTP_201_CREATED)


class SurveyViewSet(WorkbookActions, ConsequenceActions, mixins.CreateModelMixin, ScopedViewSet):
    queryset = Survey.objects.select_related("engagement", "questionnaire")
    serializer_class = serializers.SurveySerializer
    filterset_fields = ["engagement", "state"]
    perform_create = creating(services.start_survey)
    move = RowAction(services.move_survey, "survey", "Submit, confirm or reopen.",
                     serializers.SurveyMoveSerializer)

    @extend_schema(request=serializers.AnswerChangesSerializer, responses={200: dict})
    @action(detail=True, methods=["get", "post"])
    def answers(self, request, pk=None):
        """Every input with its value and revision; POST saves, refusing what was overtaken."""
        survey = self.get_object()
        if request.method == "GET":
            sheet = Sheet(survey)
            return Response({"answers": [
                {"name": cell.name, "value": cell.value, "revision": cell.revision,
                 "is_asked": sheet.is_asked(cell), "is_missing": cell.is_missing}
                for cell in sheet.cells.values()]})
        changes = [services.Change(c["name"], c["value"], c["revision"])
                   for c in self.validated(serializers.AnswerChangesSerializer)["changes"]]
        saved = services.save_answers(actor=request.user, survey=survey, changes=changes)
        return Response({"saved": saved.names, "errors": saved.errors, "conflicts": [
            {"name": c.cell.name, "stored": c.cell.value, "revision": c.cell.revision,
             "changed_by": str(c.cell.answer.changed_by), "yours": c.raw}
            for c in saved.conflicts]})

    @extend_schema(request=serializers.AddCommentSerializer, responses={200: dict})
    @action(detail=True, methods=["get", "post"])
    def comments(self, request, pk=None):
        """Comments the user may read; POST adds one."""
        survey = self.get_object()
        if request.method == "POST":
            services.add_comment(actor=request.user, survey=survey,
                                 **self.validated(serializers.AddCommentSerializer))
        found = Comment.objects.visible_to(request.user).filter(survey=survey)
        return Response({"comments": serializers.CommentSerializer(
            found.select_related("question", "model"), many=True).data})

    @extend_schema(responses=serializers.TopologySerializer)
    @action(detail=True)
    def topology(self, request, pk=None):
        """Components and calls of the application, as the survey's answer states them."""
        answer = Sheet(self.get_object()).value("topology")
        return Response(serializers.TopologySerializer(topology_of(str(answer or ""))).data)

    @extend_schema(request=serializers.SurveyVersionSerializer, responses={200: dict})
    @action(detail=True, methods=["get", "post"])
    def version(self, request, pk=None):
        """What the newest version of the questionnaire changes; POST takes the survey over."""
        survey = self.get_object()
        require(request.user, Can.WORK, survey.engagement)
        if request.method == "GET":
            return Response(_transfer(transfer(survey, publishing.current_questionnaire())))
        return Response(_transfer(services.move_to_version(
            actor=request.user, survey=survey,
            **self.validated(serializers.SurveyVersionSerializer))))


def _transfer(found: Transfer) -> dict:
    return {"version": found.target.version, "kept": len(found.kept),
            **{name: [question.key for question in getattr(found, name)]
               for name in ("added", "removed", "changed")},
            "aside": [{"key": answer.question.key, "model": answer.model and answer.model.code,
                       "value": answer.value} for answer in found.aside]}


routes = [("questionnaires", QuestionnaireViewSet, "questionnaire"),
          ("surveys", SurveyViewSet, "survey"), *draft_routes]
