"""Rows that one worker at a time claims, keeps by renewing its claim, and gives back.

A claim is a conditional UPDATE, so a message that is delivered twice does its work once. Every
later write filters by the claim token: a worker that lost its claim changes nothing.
"""

import secrets
from datetime import datetime, timedelta

from django.db import models
from django.db.models import Q

NO_CLAIM = {"claim_token": "", "claimed_until": None}


class ClaimableRow(models.Model):
    """The two columns of a claim; an empty token means that nobody holds the row."""

    claim_token = models.CharField(max_length=40, blank=True, editable=False)
    claimed_until = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        abstract = True


class ClaimableQuerySet(models.QuerySet):
    """Queries of a ClaimableRow. Which rows are due is the model's own matter."""

    def unclaimed(self, now: datetime) -> "ClaimableQuerySet":
        """Rows that nobody holds, or whose claim has expired because its worker died."""
        return self.filter(Q(claim_token="") | Q(claimed_until__lt=now))

    def claim(self, now: datetime, duration: timedelta, **values) -> str:
        """Claim these rows and set `values` on them.

        Returns:
            the token of the claim, or "" if there was no row to claim.
        """
        token = secrets.token_hex(8)
        claimed = self.update(claim_token=token, claimed_until=now + duration, **values)
        return token if claimed else ""

    def claimed_with(self, token: str) -> "ClaimableQuerySet":
        """Rows that the claim still holds."""
        return self.filter(claim_token=token)

    def renew_claim(self, now: datetime, duration: timedelta) -> int:
        """Keep the claim for longer; returns the number of rows, 0 once the claim is lost."""
        return self.update(claimed_until=now + duration)

    def release(self, **values) -> int:
        """Give the rows back with these values; returns the number of rows."""
        return self.update(**NO_CLAIM, **values)
