"""Rows that one worker at a time claims, keeps by renewing its claim, and gives back.

A claim is a conditional UPDATE, so a message that is delivered twice does its work once. Every
later write filters by the claim token: a worker that lost its claim changes nothing.

Statements that write several rows lock them in the order of their keys first: two UPDATEs meet the
rows in whatever order their plans find them, and would wait for each other.
"""

import secrets
from datetime import datetime, timedelta

from django.db import models, transaction
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
            the token of the claim, or "" if there was no row to claim. A row that is being
            claimed or written just then is left out.
        """
        token = secrets.token_hex(8)
        claimed = self._update_in_order(skip_locked=True, claim_token=token,
                                        claimed_until=now + duration, **values)
        return token if claimed else ""

    def claimed_with(self, token: str) -> "ClaimableQuerySet":
        """Rows that the claim still holds."""
        return self.filter(claim_token=token)

    def renew_claim(self, now: datetime, duration: timedelta) -> int:
        """Keep the claim for longer; returns the number of rows, 0 once the claim is lost."""
        return self._update_in_order(claimed_until=now + duration)

    def release(self, **values) -> int:
        """Give the rows back with these values; returns the number of rows."""
        return self._update_in_order(**NO_CLAIM, **values)

    @transaction.atomic
    def _update_in_order(self, *, skip_locked: bool = False, **values) -> int:
        """Update rows that were locked by key, without those that another holds if skipping."""
        locked = self.order_by("pk").select_for_update(
            of=("self",), no_key=True, skip_locked=skip_locked)
        return self.model._default_manager.filter(pk__in=locked.values("pk")).update(**values)
