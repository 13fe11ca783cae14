from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.acceptance.models.review import Condition, Review
from delivery.acceptance.models.warranty_claim import WarrantyClaim
from delivery.planning.models import ProjectIssue
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Engagement
from engagements.models.visibility import in_engagements_of


class FollowUpQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "FollowUpQuerySet":
        return self.filter(
            models.Q(condition__review__in=Review.objects.visible_to(user))
            | in_engagements_of(user, "issue__engagement")
            | in_engagements_of(user, "claim__engagement"))


class FollowUp(models.Model):
    """One line of the history of a condition, an issue of the trial run or a warranty claim:
    what was said or done, by whom, with a file."""

    class Step(models.TextChoices):
        RAISED = "raised", _("Issue raised")
        NOTE = "note", _("Comment")
        REPORTED = "reported", _("Reported as done")
        SENT_BACK = "sent_back", _("Sent back")
        CLOSED = "closed", _("Closed")
        REOPENED = "reopened", _("Reopened")

    condition = models.ForeignKey(Condition, models.CASCADE, null=True, blank=True,
                                  related_name="history")
    issue = models.ForeignKey(ProjectIssue, models.CASCADE, null=True, blank=True,
                              related_name="history")
    claim = models.ForeignKey(WarrantyClaim, models.CASCADE, null=True, blank=True,
                              related_name="history")
    step = models.CharField(_("step"), max_length=10, choices=Step)
    text = models.CharField(_("remark"), max_length=2000, blank=True)
    due_on = models.DateField(_("new due date"), null=True, blank=True)
    file = models.FileField(upload_to="follow-ups/%Y/%m", max_length=300, blank=True)
    file_name = models.CharField(max_length=160, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    objects = FollowUpQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(condition__isnull=False, issue=None, claim=None)
                | models.Q(condition=None, issue__isnull=False, claim=None)
                | models.Q(condition=None, issue=None, claim__isnull=False),
                name="follow_up_is_about_one_thing"),
            models.CheckConstraint(
                condition=~models.Q(step__in=["sent_back", "reopened"]) | ~models.Q(text=""),
                name="sent_back_has_remark"),
        ]

    @property
    def engagement(self) -> Engagement:
        return (self.condition or self.issue or self.claim).engagement


def reported_issues() -> models.QuerySet[ProjectIssue]:
    """Those that a customer reported in a trial run: they alone have a history."""
    return ProjectIssue.objects.filter(history__isnull=False).distinct()
