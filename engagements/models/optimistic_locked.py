from django.db import models


class OptimisticLocked(models.Model):
    """A row that several people edit; each change counts its version up (`optimistic_locking`)."""

    lock_version = models.PositiveIntegerField(default=1, editable=False)

    class Meta:
        abstract = True
