from django.db import models


class Lease(models.Model):
    """Something that one process of all hosts does at a time, until `until` of the database's
    clock; see `engagements.leased_scheduler`."""

    name = models.CharField(max_length=40, primary_key=True)
    holder = models.CharField(max_length=120)
    until = models.DateTimeField()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return f"{self.name}: {self.holder}"
