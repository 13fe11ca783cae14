"""Two writers of one draft: the second is told what the first changed; nothing is lost silently."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from delivery.quotes.models import Quote
from engagements.audit import audit_log
from engagements.errors import WrongState
from engagements.models import AuditEntry, User
from engagements.optimistic_locking import EditConflict
from engagements.text.text_joining import in_turn, labelled, listed


class ChangedMeanwhile(EditConflict):
    """The draft is newer than what the writer saw; `details["changes"]` says what is new."""

    code = "changed_meanwhile"
    seen_as = newest = "revision"


def locked_draft(quote: Quote, revision: int | None = None) -> Quote:
    """The locked row of a draft. Call it inside a transaction.

    Args:
        revision: the revision the writer saw; None skips the comparison.

    Raises WrongState for anything but a draft, ChangedMeanwhile for a newer revision.
    """
    quote = Quote.objects.select_for_update(of=("self",), no_key=True).get(pk=quote.pk)
    if quote.state != Quote.State.DRAFT:
        raise WrongState(_("Only a draft can be changed; make a new version instead."))
    if revision is not None and revision != quote.revision:
        changes = changes_since(quote, revision)
        raise ChangedMeanwhile(
            _("This draft was changed meanwhile and your entry was not saved: %(changes)s. Check "
              "your entry against it and save again.") % {"changes": in_turn(changes)},
            changes=changes, revision=quote.revision)
    return quote


def keep(quote: Quote, actor: User, action: str, **data) -> None:
    """Count and record one write of a locked draft."""
    quote.revision += 1
    quote.save()
    audit_log.record(actor=actor, action=action, target=quote, engagement=quote.engagement,
                     data={"revision": quote.revision, **data})


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, list[str]]:
    """{field: [before, after]} of what differs, as text."""
    return {name: [str(before[name]), str(after[name])] for name in after
            if before[name] != after[name]}


def changes_since(quote: Quote, revision: int) -> list[str]:
    """A sentence per write since a revision: who, and what became of what."""
    entries = AuditEntry.objects.filter(
        target_type="quotes.quote", target_id=str(quote.pk)).select_related("actor")
    newer = [e for e in entries.order_by("pk") if e.data.get("revision", 0) > revision]
    return [labelled(entry.actor, _what(entry)) for entry in newer] or [_("its state changed")]


def _what(entry: AuditEntry) -> str:
    if changes := entry.data.get("changes"):
        return listed(f"{field_label(name)} {_short(old)} → {_short(new)}"
                         for name, (old, new) in changes.items())
    label = {"quote.add_line": _("line added"), "quote.remove_line": _("line removed"),
             "quote.add_lines": _("lines added")}.get(entry.action, entry.action)
    return f"{label} {entry.data.get('code', '')}".strip()


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}…"


def field_label(name: str) -> str:
    """A field's name in the active language."""
    from delivery.quotes.models import QuoteLine

    for model in (Quote, QuoteLine):
        found = next((f for f in model._meta.fields if f.name == name), None)
        if found:
            return str(found.verbose_name)
    return name
