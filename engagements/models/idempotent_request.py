"""Requests that were sent with an `Idempotency-Key`, for as long as they may be sent again."""

from datetime import timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone

KEPT_FOR = timedelta(hours=24)


class IdempotentRequest(models.Model):
    """One POST of an account; without a status while it runs, or where it has to be sent again."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    key_hash = models.CharField(max_length=64)
    request_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.BinaryField(default=b"")  # encrypted: it may hold a key that is shown once

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["owner", "key_hash"],
                                               name="idempotency_key_of_an_account")]

    def __str__(self) -> str:
        return f"{self.owner_id}: {self.status or '…'}"
