from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.models import Engagement


class DocumentQuerySet(models.QuerySet):
    def visible_to(self, user) -> "DocumentQuerySet":
        """Customers see only issued documents."""
        documents = self.filter(engagement__in=Engagement.objects.visible_to(user))
        if user.is_authenticated and user.is_reviewer:
            return documents.exclude(state=Document.State.DRAFT)
        return documents


class Document(models.Model):
    """A numbered, frozen document: facts in `snapshot`, rendered files beside it."""

    class Kind(models.TextChoices):
        TEST_REPORT = "TR", _("Migration test report")
        ACCEPTANCE = "FA", _("Acceptance document")

    class State(models.TextChoices):
        DRAFT = "draft", _("Draft")
        ISSUED = "issued", _("Issued")
        SIGNED = "signed", _("Signed")
        SUPERSEDED = "superseded", _("Superseded")

    engagement = models.ForeignKey(Engagement, models.PROTECT, related_name="documents")
    kind = models.CharField(_("kind"), max_length=4, choices=Kind)
    number = models.CharField(_("number"), max_length=60, blank=True)  # given at issuing
    version = models.PositiveSmallIntegerField(_("version"), default=1)
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.DRAFT)
    snapshot = models.JSONField(default=dict)
    content_hash = models.CharField(max_length=64, blank=True)
    is_practice = models.BooleanField(default=False)
    replaces = models.ForeignKey("self", models.PROTECT, null=True, blank=True,
                                 related_name="successors")
    change_note = models.CharField(_("what was changed and why"), max_length=400, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    issued_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True,
                                  related_name="+")
    issued_at = models.DateTimeField(null=True, blank=True)

    objects = DocumentQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["number", "version"], condition=~models.Q(number=""),
                                    name="document_version_unique"),
            models.CheckConstraint(
                condition=models.Q(state="draft")
                | (~models.Q(number="") & models.Q(issued_at__isnull=False)),
                name="issued_document_has_number_and_time"),
        ]

    def __str__(self) -> str:
        return f"{self.number} V{self.version}.0" if self.number else self.get_kind_display()

    @property
    def is_frozen(self) -> bool:
        return self.state != self.State.DRAFT


class DocumentFile(models.Model):
    """The stored bytes of a document in one language and format.

    `format` is pdf, or signed (signed2, …) for the copies with a signature page.
    """

    document = models.ForeignKey(Document, models.CASCADE, related_name="files")
    language = models.CharField(max_length=10)
    format = models.CharField(max_length=8, default="pdf")
    file = models.FileField(upload_to="documents/%Y/%m", max_length=300)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["language", "format"]
        constraints = [
            models.UniqueConstraint(fields=["document", "language", "format"],
                                    name="one_file_per_language_and_format")
        ]

    @property
    def download_name(self) -> str:
        """Number, version, kind of copy and language: FA-EP2501-20250625-001-V1.0-en.pdf."""
        copy = "" if self.format == "pdf" else f"-{self.format}"
        number, version = self.document.number, self.document.version
        return f"{number}-V{version}.0{copy}-{self.language}.pdf"
