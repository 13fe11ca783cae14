from django.db import models


class OptimisticLocked(models.Model):
    """A sheet that several people edit; the number grows with each change (see `locking`)."""

    lock_version = models.PositiveIntegerField(default=1, editable=False)

    class Meta:
        abstract = True
