"""Writes of the agreement: entered in a draft, agreed with the statement of work, changed by change
requests and accepted quotes."""

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from assessments.models import CriteriaSet
from delivery.agreement.facts import FACTS, Fact, Origin, draw, listed_deliverables, shown
from delivery.agreement.models import Agreement
from delivery.agreement.queries import OF_QUOTE, in_force, offered
from delivery.documents.bilingual import both, pair
from delivery.quotes.models import Quote
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import Engagement, User
from engagements.optimistic_locking import lock_checked, save_changes
from engagements.permissions import Role

State = Agreement.State


def _lock(engagement: Engagement) -> Engagement:
    return Engagement.objects.select_for_update(of=("self",), no_key=True).get(pk=engagement.pk)


@transaction.atomic
def draft_agreement(*, actor: User, engagement: Engagement) -> Agreement:
    """The draft of the next version, stored; the one there is, where there is one."""
    require(actor, Can.MANAGE, engagement)
    return _drafted(actor, _lock(engagement))


def _drafted(actor: User | None, engagement: Engagement) -> Agreement:
    draft = offered(engagement)
    if draft.pk is None:
        draft.values = {}
        draft.save()
        audit_log.record(actor=actor, action="agreement.draft", target=draft, engagement=engagement)
    return draft


@transaction.atomic
def enter_values(*, actor: User, agreement: Agreement, seen: int | None = None, **given: Any
                 ) -> Agreement:
    """Put values in the place of a draft's sources; an empty one gives the fact back to its source.

    Args:
        given: by the fact's name months, codes of deliverables, signers (rows of user, the name of
            an account, and capacity) or a text, whose English goes by the name and `_en`.

    Raises InvalidInput for a version that was agreed, since a change request changes it, and for
    signers who are no reviewers of the engagement.
    """
    require(actor, Can.MANAGE, agreement.engagement)
    agreement = lock_checked(agreement, seen)
    if agreement.state != State.DRAFT:
        raise InvalidInput(_("%(agreement)s was agreed; a change request changes it.")
                           % {"agreement": agreement})
    origin, entered = Origin(agreement.engagement), dict(agreement.entered)
    before = draw(origin, entered)
    source = both(lambda: _("entered by %(person)s on %(day)s") % {
        "person": actor, "day": timezone.localdate()})
    for fact in FACTS:
        if not fact.entry or fact.name not in given:
            continue
        value = _as_value(fact, given, agreement.engagement)
        drawn = listed_deliverables(origin, value) if fact.entry == "deliverables" else value
        if drawn != before.get(fact.name, {}).get("value"):
            entered.pop(fact.name, None)
            if value:
                entered[fact.name] = {"value": value, "source": source}
    agreement.entered, after = entered, draw(origin, entered)
    changed = {fact.name: tuple(shown(fact.name, found.get(fact.name, {}).get("value"))
                                for found in (before, after))
               for fact in FACTS if before.get(fact.name) != after.get(fact.name)}
    if changed:
        save_changes(agreement, actor=actor, action="agreement.enter",
                     engagement=agreement.engagement, changed=changed)
    return agreement


def _as_value(fact: Fact, given: dict, engagement: Engagement) -> Any:
    value = given[fact.name]
    if fact.entry == "signers":
        return _signers(value or (), engagement)
    if fact.entry == "text":
        return pair(value.strip(), given.get(f"{fact.name}_en", "").strip()) if (
            value.strip()) else None
    return sorted(value or ()) if fact.entry == "deliverables" else value


def _signers(rows: Collection[dict], engagement: Engagement) -> list[dict]:
    people = {user.username: user for user in User.objects.filter(
        memberships__engagement=engagement, role=Role.REVIEWER, is_active=True)}
    names = [row["user"] for row in rows]
    if wrong := [name for n, name in enumerate(names) if name not in people or name in names[:n]]:
        raise InvalidInput(_("%(person)s is not a customer reviewer of this engagement, or named "
                             "twice.") % {"person": wrong[0]})
    return [{"user": row["user"], "capacity": row.get("capacity", "").strip()[:80], "name": pair(
        people[row["user"]].get_full_name(), people[row["user"]].full_name_en)} for row in rows]


@transaction.atomic
def agree(*, actor: User, engagement: Engagement, values: dict, basis: str) -> Agreement:
    """The next version with the values that both sides have before them, in force at once.

    What is in force already, and holds the same, stays. The caller has the right to issue `basis`.
    """
    engagement = _lock(engagement)
    draft = offered(engagement)
    last = in_force(engagement)
    draft.values = values
    if last and draft.pk is None and not list(last.differences(draft)):
        return last
    return _put_in_force(actor, draft, last, basis)


def _put_in_force(actor: User, made: Agreement, last: Agreement | None, basis: str) -> Agreement:
    if last:
        last.state = State.SUPERSEDED
        last.save(update_fields=["state"])
    made.state, made.basis = State.AGREED, basis[:240]
    made.agreed_by, made.agreed_at = actor, timezone.now()
    made.save()
    changed = sorted(last.differences(made)) if last else sorted(made.values)
    audit_log.record(actor=actor, action="agreement.agree", target=made,
                     engagement=made.engagement, data={
                         "version": made.version, "basis": basis, "facts": changed})
    return made


@transaction.atomic
def follow_change(*, actor: User, engagement: Engagement, names: Collection[str], basis: str
                  ) -> Agreement | None:
    """Take these facts anew from their sources into a next version that is in force at once.

    To be called when both sides have signed what brings it about. Before a version is agreed there
    is nothing to change: the draft follows its sources by itself.
    """
    engagement = _lock(engagement)
    last = in_force(engagement)
    if last is None:
        return None
    entered = {name: value for name, value in last.entered.items() if name not in names}
    now = draw(Origin(engagement), entered)
    values = {name: value for name, value in last.values.items() if name not in names}
    values |= {name: {**now[name], "source": _by(basis)} if now[name]["value"] != last.value(name)
               else last.values[name] for name in names if name in now}
    open_draft = Agreement.objects.filter(engagement=engagement, state=State.DRAFT).first()
    made = Agreement(engagement=engagement, version=last.version + 1, entered=entered,
                     values=values)
    if not list(last.differences(made)):
        return last
    if open_draft:  # it comes behind what is in force
        open_draft.version += 1
        open_draft.save(update_fields=["version"])
    return _put_in_force(actor, made, last, basis)


def _by(basis: str) -> dict[str, str]:
    return both(lambda: basis)


def quote_answered(*, quote: Quote, actor: User, **_signal) -> None:
    """After the customer accepted a quote: what it says comes into force, or a draft begins."""
    if follow_change(actor=actor, engagement=quote.engagement, names=OF_QUOTE,
                     basis=str(quote)) is None:
        _drafted(actor, _lock(quote.engagement))


def change_put_in_force(*, change: Any, **_signal) -> None:
    """After both sides approved a change request: the facts that it touches."""
    names = [*(OF_QUOTE if change.new_quote else ()), *(("criteria",) if change.new_criteria
             else ()), *(("scope", "deliverables") if change.scope_effects.exists() else ()),
             *(("ends_on",) if change.ends_on else ())]
    follow_change(actor=change.firm_approved_by, engagement=change.engagement, names=names,
                  basis=str(change))


def criteria_written(_table: type, keys: Collection) -> None:
    """After criteria were signed by both sides: where none were agreed, these are. Later ones come
    with the change request that they belong to."""
    for found in CriteriaSet.objects.filter(pk__in=keys, state=CriteriaSet.State.SIGNED):
        last = in_force(found.engagement)
        if last and not last.value("criteria"):
            follow_change(actor=found.signed_by, engagement=found.engagement, names=("criteria",),
                          basis=f"AC-{found}")


def document_put_in_force(*, document: Any, **_signal) -> None:
    """After a statement of work was issued: the agreement that its frozen facts hold."""
    if values := document.snapshot.get("agreement"):
        agree(actor=document.issued_by, engagement=document.engagement, values=values,
              basis=str(document))
