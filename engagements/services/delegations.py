"""Delegating what waits for oneself while one is away."""

from datetime import date

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.access import require_administrator
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import Delegation, User


@transaction.atomic
def delegate_duties(*, actor: User, delegate: User, starts_on: date, ends_on: date,
                    user: User | None = None) -> Delegation:
    """From one day to another a colleague does what waits for the person by name: turns of
    documents, to-dos, conditions. Writes an audit entry.

    Args:
        user: who is away, where an administrator records it; else the actor.
    Raises InvalidInput for oneself or somebody outside the firm, for days that are over, and where
    one of the two is away on such a day already.
    """
    user = user or actor
    if user != actor:
        require_administrator(actor)
    if delegate == user or not delegate.is_active or user.is_outside or delegate.is_outside:
        raise InvalidInput(_("Choose a colleague of the firm."))
    if ends_on < starts_on or ends_on < timezone.localdate():
        raise InvalidInput(_("The last day is before the first, or over."))
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    same_days = Delegation.objects.filter(ended_at=None, starts_on__lte=ends_on,
                                          ends_on__gte=starts_on)
    if same_days.filter(Q(user=user) | Q(user=delegate)).exists():
        raise InvalidInput(_("On these days one of the two is away already."))
    made = Delegation.objects.create(user=user, delegate=delegate, starts_on=starts_on,
                                     ends_on=ends_on, recorded_by=actor)
    audit_log.record(actor=actor, action="delegation.start", target=made, data={
        "user": user.username, "delegate": delegate.username, "starts_on": starts_on,
        "ends_on": ends_on})
    return made


@transaction.atomic
def end_delegation(*, actor: User, delegation: Delegation) -> Delegation:
    """Take back what waits for oneself, from now on. Writes an audit entry."""
    if delegation.user_id != actor.pk:
        require_administrator(actor)
    found = Delegation.objects.select_for_update(no_key=True).get(pk=delegation.pk)
    if found.ended_at:
        raise WrongState(_("This delegation has ended."))
    found.ended_at = timezone.now()
    found.save(update_fields=["ended_at"])
    audit_log.record(actor=actor, action="delegation.end", target=found, data={
        "user": found.user.username, "delegate": found.delegate.username})
    return found
