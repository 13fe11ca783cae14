from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet

OFFICE = "application/vnd.openxmlformats-officedocument"
CONTENT_TYPES = {"pdf": "application/pdf", "xlsx": f"{OFFICE}.spreadsheetml.sheet",
                 "docx": f"{OFFICE}.wordprocessingml.document"}


class IssuedFile(models.Model):
    """The stored bytes of what was issued, in one language and format.

    A subclass adds the foreign key to what was issued, a unique constraint over it with language
    and format, and `download_name`. A row is never set anew: its bytes are what the checksum names.
    """

    language = models.CharField(max_length=10)
    format = models.CharField(max_length=16, default="pdf")
    file = models.FileField(upload_to="documents/%Y/%m", max_length=300)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        abstract = True
        ordering = ["language", "format"]

    def __str__(self) -> str:
        return self.download_name

    @property
    def ending(self) -> str:
        """The ending of the file's name, which decides its content type."""
        return self.format

    @property
    def content_type(self) -> str:
        return CONTENT_TYPES[self.ending]

    @property
    def download_name(self) -> str:
        """Number, version and language of what was issued, with the ending."""
        raise NotImplementedError


class FailedFileQuerySet(models.QuerySet):
    def of(self, row: models.Model) -> "FailedFileQuerySet":
        """The failed files of an issued row."""
        return self.filter(target_type=row._meta.label_lower, target_id=row.pk)


class FailedFile(models.Model):
    """A file of what was issued that could not be made; gone once it is."""

    target_type = models.CharField(max_length=60)  # label of the issued row's model
    target_id = models.PositiveBigIntegerField()
    language = models.CharField(max_length=10)
    format = models.CharField(max_length=16)
    error = models.CharField(_("error"), max_length=400)
    attempts = models.PositiveIntegerField(default=0)
    since = models.DateTimeField()
    tried_at = models.DateTimeField()

    objects = FailedFileQuerySet.as_manager()

    class Meta:
        ordering = ["language", "format"]
        constraints = [models.UniqueConstraint(
            fields=["target_type", "target_id", "language", "format"],
            name="one_failure_per_language_and_format")]

    def __str__(self) -> str:
        return f"{self.target_type} {self.target_id} · {self.language} · {self.format}"
