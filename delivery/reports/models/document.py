from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.documents.models import IssuedFile
from delivery.reports import registry
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Engagement
from engagements.models.visibility import in_engagements_of


class DocumentQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "DocumentQuerySet":
        """Customers see only what was issued."""
        documents = self.filter(in_engagements_of(user))
        return documents.frozen() if user.is_authenticated and user.is_outside else documents

    def without_facts(self) -> "DocumentQuerySet":
        """For lists: a snapshot may have megabytes, and reading it takes longer than a page."""
        return self.defer("snapshot", "words")

    def frozen(self) -> "DocumentQuerySet":
        """What was issued, whatever became of it."""
        return self.exclude(state__in=Document.OPEN_STATES)

    def in_force(self) -> "DocumentQuerySet":
        """Issued, and neither replaced nor withdrawn; a version that the customer has not signed
        is not, while one that was signed before it holds."""
        holding = Document.objects.filter(
            number=models.OuterRef("number"), version__lt=models.OuterRef("version"),
            state__in=Document.IN_FORCE)
        return self.filter(state__in=Document.IN_FORCE).exclude(
            models.Exists(holding), state=Document.State.ISSUED)

    def with_evidence(self) -> "DocumentQuerySet":
        """Of kinds that hold verdicts and raw files."""
        return self.filter(kind__in=[k.code for k in registry.all_kinds() if k.is_judged])


class Document(models.Model):
    """A numbered, frozen document: facts in `snapshot`, rendered files beside it."""

    class Kind:
        """Codes that other apps name; the kinds themselves are declared in `kinds`."""

        TEST_REPORT = "TR"
        ACCEPTANCE = "FA"

    class State(models.TextChoices):
        DRAFT = "draft", _("Draft")
        IN_REVIEW = "in_review", _("In review")
        REVIEWED = "reviewed", _("Reviewed")
        ISSUING = "issuing", _("Being issued")
        ISSUED = "issued", _("Issued")
        SIGNED = "signed", _("Signed")
        SUPERSEDED = "superseded", _("Superseded")
        WITHDRAWN = "withdrawn", _("Void")

    OPEN_STATES = (State.DRAFT, State.IN_REVIEW, State.REVIEWED, State.ISSUING)
    IN_FORCE = (State.ISSUED, State.SIGNED)

    engagement = models.ForeignKey(Engagement, models.PROTECT, related_name="documents")
    kind = models.CharField(_("kind"), max_length=4)  # see delivery.reports.registry
    number = models.CharField(_("number"), max_length=60, blank=True)  # given at issuing
    version = models.PositiveSmallIntegerField(_("version"), default=1)
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.DRAFT)
    words = models.JSONField(default=dict, blank=True)  # written passages: {code: {"zh", "en"}}
    snapshot = models.JSONField(default=dict)
    content_hash = models.CharField(max_length=64, blank=True)
    is_practice = models.BooleanField(default=False)
    replaces = models.ForeignKey("self", models.PROTECT, null=True, blank=True,
                                 related_name="successors")
    change_note = models.CharField(_("what was changed and why"), max_length=400, blank=True)
    # Above 0 only where several drafts of a kind were open before the database let one be.
    duplicate = models.PositiveSmallIntegerField(default=0, db_default=0, editable=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    submitted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                     blank=True, related_name="+")
    submitted_at = models.DateTimeField(null=True, blank=True)
    reviewed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                    blank=True, related_name="+")
    reviewed_at = models.DateTimeField(null=True, blank=True)
    issued_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True,
                                  related_name="+")
    issued_at = models.DateTimeField(null=True, blank=True)

    objects = DocumentQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["state", "-id"], name="documents_by_state"),
                   models.Index(fields=["kind", "-id"], name="documents_by_kind"),
                   models.Index(fields=["engagement", "-id"], name="documents_by_engagement")]
        constraints = [
            models.UniqueConstraint(fields=["number", "version"], condition=~models.Q(number=""),
                                    name="document_version_unique"),
            models.UniqueConstraint(
                fields=["engagement", "kind", "duplicate"], name="one_open_draft_per_kind",
                condition=models.Q(replaces=None, state__in=[
                    "draft", "in_review", "reviewed", "issuing"])),
            models.UniqueConstraint(
                fields=["replaces", "duplicate"], name="one_open_correction",
                condition=models.Q(state__in=["draft", "in_review", "reviewed", "issuing"])),
            models.CheckConstraint(
                condition=models.Q(state__in=["draft", "in_review", "reviewed"])
                | (~models.Q(number="") & models.Q(issued_at__isnull=False)),
                name="issued_document_has_number_and_time"),
            models.CheckConstraint(
                condition=~models.Q(state__in=["reviewed", "issuing"])
                | models.Q(reviewed_at__isnull=False),
                name="reviewed_document_has_time"),
        ]

    def __str__(self) -> str:
        return f"{self.number} V{self.version}.0" if self.number else self.get_kind_display()

    def get_kind_display(self) -> str:
        """The kind's title in the active language."""
        return str(registry.get(self.kind).title)

    @property
    def holds_evidence(self) -> bool:
        """Whether evidence bundles belong to documents of its kind."""
        return registry.get(self.kind).is_judged

    @property
    def is_frozen(self) -> bool:
        return self.state not in self.OPEN_STATES

    @property
    def has_failed_file(self) -> bool:
        """Whether one of its files could not be made, after all tries."""
        return self.render_jobs.filter(state="failed").exists()

    @property
    def is_past(self) -> bool:
        """Issued once and no longer in force: replaced or withdrawn."""
        return self.is_frozen and self.state not in self.IN_FORCE

    @property
    def is_concluded(self) -> bool:
        """Signed by the customer, or deemed accepted under the contract."""
        return self.state == self.State.SIGNED or getattr(
            getattr(self, "review", None), "decision", "") == "deemed"

    @property
    def has_former_criteria(self) -> bool:
        """Whether both sides have signed other criteria than those that it shows."""
        stated = self.snapshot.get("criteria", {}).get("content_hash")
        signed = self.engagement.criteria_sets.filter(state="signed").first() if stated else None
        return signed is not None and signed.content_hash != stated

    @property
    def decided_review(self):
        """The customer's review once it is decided; a signature says nothing without it."""
        review = getattr(self, "review", None)
        return review if review and review.decision else None

    @property
    def state_outcome(self) -> tuple[str, str] | None:
        """Of a signed document the code and label of what was signed."""
        review = self.decided_review if self.state == self.State.SIGNED else None
        return review and (review.decision, _("%(state)s: %(decision)s") % {
            "state": self.get_state_display(), "decision": review.get_decision_display()})

    @property
    def holding_version(self) -> "Document | None":
        """The version that was signed before this offered one and holds until it is signed."""
        if self.state != self.State.ISSUED or self.is_concluded:
            return None
        return Document.objects.without_facts().filter(
            number=self.number, version__lt=self.version, state__in=self.IN_FORCE).first()

    @property
    def newest_issued(self) -> "Document | None":
        """The newest issued version after this one."""
        return Document.objects.frozen().without_facts().filter(
            number=self.number, version__gt=self.version).order_by("-version").first()


class DocumentStep(models.Model):
    """One step of a document's way: who did what, when, and why."""

    class Action(models.TextChoices):
        SUBMIT = "submit", _("Submitted for review")
        REVIEW = "review", _("Reviewed")
        SEND_BACK = "send_back", _("Sent back")
        RECALL = "recall", _("Withdrawn by its author")
        HAND_OVER = "hand_over", _("Handed over")
        CO_SIGN = "co_sign", _("Co-signer added")
        APPROVE = "approve", _("Approved")
        WITHDRAW = "withdraw", _("Declared void")

    document = models.ForeignKey(Document, models.CASCADE, related_name="steps")
    action = models.CharField(_("step"), max_length=10, choices=Action)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField()
    comment = models.CharField(_("comment"), max_length=400, blank=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]


class DocumentFile(IssuedFile):
    """The stored bytes of a document in one language and format.

    `format` is pdf, xlsx or docx; signed (signed2, …) for copies with a signature page;
    withdrawn, withdrawn-xlsx and withdrawn-docx for the marked copies of a withdrawn one;
    preview for a draft.

    A withdrawal adds marked copies, each with a checksum of its own.
    """

    document = models.ForeignKey(Document, models.CASCADE, related_name="files")

    class Meta(IssuedFile.Meta):
        constraints = [
            models.UniqueConstraint(fields=["document", "language", "format"],
                                    name="one_file_per_language_and_format")
        ]

    @property
    def ending(self) -> str:
        """xlsx and docx for these and their marked copies, pdf for all others."""
        form = self.format.removeprefix(f"{registry.WITHDRAWN}-")
        return form if form in ("xlsx", "docx") else "pdf"

    @property
    def download_name(self) -> str:
        """Number, version, kind of copy and language: FA-EP2501-20250625-001-V1.0-en.pdf."""
        copy = self.format.removesuffix(self.ending).strip("-")
        copy = f"-{copy}" if copy else ""
        document = self.document
        number = document.number or f"{document.kind}-{document.engagement.code}-draft"
        return f"{number}-V{document.version}.0{copy}-{self.language}.{self.ending}"

    @property
    def served_name(self) -> str:
        """The name under which it is handed out; it says so if the version is past.

        The bytes stay as they were issued: TR-EP2501-20250625-001-V1.0-en-superseded.pdf.
        """
        state = self.document.state
        if not self.document.is_past or self.format.startswith(state):
            return self.download_name
        return f"{self.download_name.removesuffix(f'.{self.ending}')}-{state}.{self.ending}"
