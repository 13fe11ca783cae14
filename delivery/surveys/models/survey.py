from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.surveys.models.questionnaire import Question, Questionnaire
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Engagement, MigratedModel
from engagements.models.visibility import in_engagements_of


class SurveyQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "SurveyQuerySet":
        """Surveys of the engagements that the user may see."""
        return self.filter(in_engagements_of(user))


class Survey(models.Model):
    """The answers of one engagement (调研问卷), tied to one version of the questions."""

    class State(models.TextChoices):
        DRAFT = "draft", _("Draft")
        SUBMITTED = "submitted", _("Submitted")
        CONFIRMED = "confirmed", _("Confirmed")

    engagement = models.OneToOneField(Engagement, models.CASCADE, related_name="survey")
    questionnaire = models.ForeignKey(Questionnaire, models.PROTECT, related_name="surveys")
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.DRAFT)
    submitted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                     blank=True, related_name="+")
    submitted_at = models.DateTimeField(null=True, blank=True)
    confirmed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                     blank=True, related_name="+")
    confirmed_at = models.DateTimeField(null=True, blank=True)
    is_decided = models.BooleanField(default=False, editable=False)  # it has a Decision

    objects = SurveyQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["confirmed_at", "id"], name="surveys_to_decide",
                                condition=models.Q(state="confirmed", is_decided=False))]
        constraints = [models.CheckConstraint(
            condition=~models.Q(state="confirmed") | models.Q(confirmed_at__isnull=False),
            name="confirmed_survey_has_time")]

    def __str__(self) -> str:
        return f"{self.engagement.code} {self.questionnaire}"


class Answer(models.Model):
    """The present value of one input. `revision` counts its writes; a stale write is noticed."""

    survey = models.ForeignKey(Survey, models.CASCADE, related_name="answers")
    question = models.ForeignKey(Question, models.PROTECT, related_name="+")
    model = models.ForeignKey(MigratedModel, models.CASCADE, null=True, blank=True,
                              related_name="survey_answers")
    value = models.JSONField(null=True)
    revision = models.PositiveIntegerField(default=0)
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    changed_at = models.DateTimeField()

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["question__position", "model__position"]
        constraints = [
            models.UniqueConstraint(fields=["survey", "question", "model"],
                                    condition=models.Q(model__isnull=False),
                                    name="one_answer_per_model"),
            models.UniqueConstraint(fields=["survey", "question"],
                                    condition=models.Q(model__isnull=True),
                                    name="one_answer_per_question"),
        ]


class AnswerRevision(models.Model):
    """Every value an answer ever had: nothing that was written is lost."""

    answer = models.ForeignKey(Answer, models.CASCADE, related_name="revisions")
    revision = models.PositiveIntegerField()
    value = models.JSONField(null=True)
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    changed_at = models.DateTimeField()

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["-revision"]
        constraints = [models.UniqueConstraint(fields=["answer", "revision"],
                                               name="answer_revision_unique")]


class CommentQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "CommentQuerySet":
        """Customers never see internal comments."""
        comments = self.filter(survey__in=Survey.objects.visible_to(user))
        return comments.filter(is_internal=False) if user.is_outside else comments


class Comment(models.Model):
    """A remark on one input."""

    survey = models.ForeignKey(Survey, models.CASCADE, related_name="comments")
    question = models.ForeignKey(Question, models.PROTECT, related_name="+")
    model = models.ForeignKey(MigratedModel, models.CASCADE, null=True, blank=True,
                              related_name="+")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    text = models.TextField(_("comment"), max_length=2000)
    is_internal = models.BooleanField(_("internal"), default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = CommentQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
