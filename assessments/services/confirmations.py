"""Sheets that both sides confirm: what exactly, and who has (DOMAIN AR-02, AR-04)."""

import hashlib
import json

from django.utils.translation import gettext as _

from assessments.models import Baseline, Confirmation, CriteriaSet, Side
from engagements.access import Can, allowed, require
from engagements.errors import NotAllowed
from engagements.models import Engagement, User


def side_of(user: User) -> str:
    """The side for which a person confirms. Raises NotAllowed for other roles."""
    if allowed(user, Can.REVIEW):
        return Side.CUSTOMER
    if allowed(user, Can.MANAGE):
        return Side.FIRM
    raise NotAllowed(_("A project manager confirms for the supplier, a reviewer for the "
                       "customer."))


def confirm(*, actor: User, engagement: Engagement, content_hash: str,
            criteria_set: CriteriaSet | None = None, baseline: Baseline | None = None
            ) -> set[str]:
    """Note that the actor's side confirms this content; the sides that have. Safe to repeat.

    To be called within the caller's transaction, which also keeps the audit entry.
    """
    side = side_of(actor)
    require(actor, Can.REVIEW if side == Side.CUSTOMER else Can.MANAGE, engagement)
    Confirmation.objects.get_or_create(
        criteria_set=criteria_set, baseline=baseline, side=side, content_hash=content_hash,
        defaults={"confirmed_by": actor})
    return {entry.side for entry in confirmations(content_hash, criteria_set=criteria_set,
                                                  baseline=baseline)}


def confirmations(content_hash: str, *, criteria_set: CriteriaSet | None = None,
                  baseline: Baseline | None = None) -> list[Confirmation]:
    """Who has confirmed exactly this content; a changed sheet needs new confirmations."""
    return list(Confirmation.objects.filter(
        criteria_set=criteria_set, baseline=baseline, content_hash=content_hash,
    ).select_related("confirmed_by"))


def baseline_facts(baseline: Baseline) -> dict:
    """The sheet's content as plain data; re-measurements come later and are not part of it."""
    names = ("quantity", "unit", "environment", "hardware", "software", "data_set", "seeds",
             "source")
    return {
        **{name: getattr(baseline, name) for name in names},
        "model": baseline.model.code, "sha256": baseline.artifact.sha256,
        "value": None if baseline.value is None else f"{baseline.value.normalize():f}",
        "runs": [{"sha256": run.artifact.sha256, "value": repr(run.value)}
                 for run in baseline.runs.filter(is_remeasurement=False).select_related(
                     "artifact")],
    }


def baseline_hash(baseline: Baseline) -> str:
    """SHA-256 of the sheet."""
    text = json.dumps(baseline_facts(baseline), ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
