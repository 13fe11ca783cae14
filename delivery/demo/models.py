"""What the scenario has done already, so that a restart goes on where it stopped."""

from django.db import models


class PracticeStep(models.Model):
    """A step of the scenario that was done; written in the transaction of what it did."""

    name = models.CharField(max_length=80, unique=True)
    result = models.JSONField(default=None, null=True)  # keys of the rows it made
    done_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.name
