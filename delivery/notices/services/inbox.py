"""Writes of the inbox. Reading one's own notices is no event worth an audit entry."""

from datetime import datetime, time

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.notices.event_kinds import kinds_for
from delivery.notices.models import MailSetting, Notice, Pace, Preference
from engagements.audit import audit_log
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Engagement, User


@transaction.atomic
def mark_read(*, actor: User, notice: Notice) -> Notice:
    """Note when the recipient first opened it. Safe to repeat."""
    if notice.recipient_id != actor.pk:
        raise NotAllowed(_("This notice belongs to somebody else."))
    Notice.objects.filter(pk=notice.pk, read_at=None).update(read_at=timezone.now())
    notice.refresh_from_db()
    return notice


@transaction.atomic
def mark_all_read(*, actor: User, at: datetime | None = None) -> int:
    """Mark the whole inbox read; returns how many were not.

    `at` is the time that `undo_reading` asks for; now without it.
    """
    unread = Notice.objects.visible_to(actor).unread()
    return Notice.objects.filter(pk__in=unread.values("pk")).update(read_at=at or timezone.now())


@transaction.atomic
def undo_reading(*, actor: User, read_at: datetime) -> int:
    """Mark those of the actor's notices unread again that were read at that time; how many.

    Writes an audit entry. Raises WrongState where there is none any more.
    """
    count = Notice.objects.filter(recipient=actor, read_at=read_at).update(read_at=None)
    if not count:
        raise WrongState(_("These notices are unread already, or are no longer kept."))
    audit_log.record(actor=actor, action="notices.unread", target=actor, data={"count": count})
    return count


@transaction.atomic
def set_preferences(*, actor: User, choices: dict[str, dict],
                    engagement: Engagement | None = None) -> None:
    """What the actor wants to hear; of one engagement, or of all. Writes an audit entry.

    Args:
        choices: by kind of event: `in_inbox` (bool) and `email` (off, now or daily).
    Raises:
        InvalidInput: a kind that the role does not hear of, or an unknown pace.
        NotAllowed: the engagement is not the actor's.
    """
    if engagement and not Engagement.objects.visible_to(actor).filter(pk=engagement.pk).exists():
        raise NotAllowed(_("You are not a member of this engagement."))
    offered = {kind.code for kind in kinds_for(actor)}
    for kind, choice in choices.items():
        if kind not in offered or choice["email"] not in Pace.values:
            raise InvalidInput(_("“%(kind)s” is not among the events you may choose.")
                               % {"kind": kind})
        Preference.objects.update_or_create(
            user=actor, engagement=engagement, kind=kind,
            defaults={"in_inbox": bool(choice["in_inbox"]), "email": choice["email"]})
    audit_log.record(actor=actor, action="notices.prefer", target=actor, engagement=engagement,
                     data=choices)


@transaction.atomic
def set_mail_setting(*, actor: User, language: str = "", quiet_from: time | None = None,
                     quiet_until: time | None = None) -> MailSetting:
    """In which language the actor's e-mails are written, and between which hours none arrives.

    Raises InvalidInput for an unknown language, or quiet hours with one end or no length.
    """
    if language and language not in MailSetting.Language.values:
        raise InvalidInput(_("Choose one of the languages offered."))
    if (quiet_from is None) != (quiet_until is None) or (
            quiet_from is not None and quiet_from == quiet_until):
        raise InvalidInput(_("Quiet hours need a beginning and another end, or neither."))
    made, _new = MailSetting.objects.update_or_create(user=actor, defaults={
        "language": language, "quiet_from": quiet_from, "quiet_until": quiet_until})
    audit_log.record(actor=actor, action="notices.mail", target=actor, data={
        "language": language, "quiet_from": str(quiet_from or ""),
        "quiet_until": str(quiet_until or "")})
    return made
