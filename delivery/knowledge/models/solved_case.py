from django.conf import settings
from django.db import models
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from assessments.models import Verdict
from bundle_verifier.canonical import content_hash
from delivery.planning.models import ProjectIssue
from engagements.access import Can, allowed
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Engagement
from engagements.models.optimistic_locked import OptimisticLocked
from engagements.models.visibility import in_engagements_of
from workers.models import Job

# Beyond its engagement: the reason of a retired case is text that nobody approved.
SHARED = models.Q(approved_at__isnull=False, retired_at=None)


class SolvedCaseQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "SolvedCaseQuerySet":
        """For the firm's people those of their engagements and the shared ones; none for
        customers and for tokens of one engagement."""
        is_inside = allowed(user, Can.VIEW_INTERNAL) and not user.only_engagement_id
        own = in_engagements_of(user, or_none=True)
        return self.filter(own and SHARED | own) if is_inside else self.none()

    def own_of(self, user) -> "SolvedCaseQuerySet":
        """Those of the engagements that the user sees, without the others that are shared."""
        return self.visible_to(user).filter(in_engagements_of(user, or_none=True))

    def in_force(self) -> "SolvedCaseQuerySet":
        return self.filter(retired_at=None)

    def noted(self) -> "SolvedCaseQuerySet":
        """Each with `engagements_seen`: in how many engagements it was seen, and `cures`: how
        many jobs or verdicts show its cure. Numbers only, also of what a reader may not see."""
        rows = CaseEvidence.objects.filter(case=models.OuterRef("pk")).order_by().values("case")
        of_cures = rows.filter(shows=CaseEvidence.Shows.CURE)
        return self.annotate(
            engagements_seen=_number(rows.annotate(
                n=models.Count("engagement", distinct=True))),
            cures=_number(of_cures.annotate(n=models.Count("pk"))))


def _number(rows: models.QuerySet) -> Coalesce:
    return Coalesce(models.Subquery(rows.values("n"), output_field=models.IntegerField()), 0)


class SolvedCase(OptimisticLocked):
    """A problem that was solved: by what it is known again, its cause and its cure.

    It stays within its engagement until a person has approved its text as it stands; where it was
    seen stands in its evidence.
    """

    TEXTS = ("title", "diagnosis", "error_code", "operator", "tool", "log_pattern", "versions",
             "cause", "cure")

    engagement = models.ForeignKey(Engagement, models.PROTECT, null=True, blank=True,
                                   related_name="+")  # None: of a job of a node alone
    title = models.CharField(_("problem"), max_length=160)
    # The signature: what a later failure has to show of it. Empty parts say nothing.
    diagnosis = models.CharField(
        _("diagnosis"), max_length=40, blank=True,
        help_text=_("The diagnosis given for a failed job, for example hccl_timeout."))
    error_code = models.CharField(
        _("error code"), max_length=40, blank=True,
        help_text=_("As the log prints it, for example EI0002 or 507015."))
    operator = models.CharField(_("operator"), max_length=120, blank=True)
    tool = models.CharField(_("tool"), max_length=40, blank=True,
                            help_text=_("Only failures of this kind of job match."))
    log_pattern = models.CharField(
        _("log pattern"), max_length=400, blank=True,
        help_text=_("Text of one line of the log; * stands for anything."))
    versions = models.JSONField(_("versions"), default=dict, blank=True)
    cause = models.TextField(_("cause"))
    cure = models.TextField(_("solution"))
    is_practice = models.BooleanField(default=False)  # seen on practice nodes only
    recorded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    recorded_at = models.DateTimeField(auto_now_add=True)
    approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                    blank=True, related_name="+", verbose_name=_("approved by"))
    approved_at = models.DateTimeField(_("approved"), null=True, blank=True)
    approved_hash = models.CharField(max_length=64, blank=True)  # of the text that was approved
    retired_at = models.DateTimeField(_("retired"), null=True, blank=True)
    retired_reason = models.CharField(_("reason"), max_length=240, blank=True)

    objects = SolvedCaseQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["error_code", "-id"], name="cases_by_error_code",
                         condition=models.Q(retired_at=None)),
            models.Index(fields=["diagnosis", "-id"], name="cases_by_diagnosis",
                         condition=models.Q(retired_at=None)),
            models.Index(fields=["tool", "-id"], name="cases_by_tool"),
            models.Index(fields=["-id"], name="cases_in_force",
                         condition=models.Q(retired_at=None)),
        ]
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(diagnosis="", error_code="", operator="", log_pattern=""),
                name="case_has_signature"),
            models.CheckConstraint(
                condition=models.Q(retired_at=None, retired_reason="")
                | models.Q(retired_at__isnull=False) & ~models.Q(retired_reason=""),
                name="retired_case_has_reason"),
            models.CheckConstraint(
                condition=models.Q(approved_at=None, approved_by=None, approved_hash="")
                | models.Q(approved_at__isnull=False, approved_by__isnull=False)
                & ~models.Q(approved_hash=""),
                name="approved_case_names_who_and_text"),
        ]

    def __str__(self) -> str:
        return f"C-{self.pk:04} {self.title}"

    @property
    def text_hash(self) -> str:
        return content_hash({name: getattr(self, name) for name in self.TEXTS})


class CaseEvidenceQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "CaseEvidenceQuerySet":
        """For the firm's people, of the engagements that they see."""
        if not allowed(user, Can.VIEW_INTERNAL):
            return self.none()
        return self.filter(in_engagements_of(user, or_none=True))


class CaseEvidence(models.Model):
    """Where a case was seen or cured: a job, an issue or a verdict of an engagement."""

    class Shows(models.TextChoices):
        PROBLEM = "problem", _("the problem")
        CURE = "cure", _("the solution")

    case = models.ForeignKey(SolvedCase, models.CASCADE, related_name="evidence")
    engagement = models.ForeignKey(Engagement, models.PROTECT, null=True, blank=True,
                                   related_name="+")  # None: a job of a node alone
    shows = models.CharField(_("shows"), max_length=8, choices=Shows)
    job = models.ForeignKey(Job, models.PROTECT, null=True, blank=True, related_name="+")
    issue = models.ForeignKey(ProjectIssue, models.PROTECT, null=True, blank=True,
                              related_name="+")
    verdict = models.ForeignKey(Verdict, models.PROTECT, null=True, blank=True,
                                related_name="+")
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    added_at = models.DateTimeField(auto_now_add=True)

    objects = CaseEvidenceQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(job__isnull=False, issue=None, verdict=None)
                | models.Q(job=None, issue__isnull=False, verdict=None)
                | models.Q(job=None, issue=None, verdict__isnull=False),
                name="evidence_is_one_thing"),
            models.UniqueConstraint(fields=["case", "job"], name="job_once_per_case"),
            models.UniqueConstraint(fields=["case", "issue"], name="issue_once_per_case"),
            models.UniqueConstraint(fields=["case", "verdict"], name="verdict_once_per_case"),
        ]

    def __str__(self) -> str:
        return f"{self.case} · {self.job or self.issue or self.verdict}"
