from django.db import models
from django.utils.translation import gettext_lazy as _


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
