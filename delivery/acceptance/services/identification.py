"""Identifies a signer: agreement to the terms, then a one-time code by e-mail."""

import re
import secrets
import smtplib
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from delivery.acceptance.models import Identification, PowerOfAttorney, Review
from delivery.acceptance.review.transitions import TRANSITIONS, ReviewAction, record_action
from delivery.acceptance.signing import signing_terms
from engagements.audit import audit_log
from engagements.bilingual_mail import chosen_language, send_mail
from engagements.errors import InvalidInput, WrongState
from engagements.models import User
from engagements.moves import require_move, require_permission

LIFETIME = timedelta(minutes=10)
PAUSE = timedelta(seconds=60)
MAX_CODES_PER_HOUR = 5
MAX_ATTEMPTS = 5
DIGITS = 6


def begin_signing(*, actor: User, review: Review, name: str, capacity: str, agrees: bool,
                  ip_address: str | None = None) -> Identification:
    """Record the signer and the agreement to the terms; send a one-time code by e-mail.

    The code goes to the account's e-mail address, in the language that the signer chose for
    e-mails, else in that of the request. It lives ten minutes and five attempts; only its keyed
    hash is stored. One a minute and five an hour. A signer with a power of attorney signs in that
    capacity. Writes an audit entry.
    """
    require_permission(actor, TRANSITIONS, review, ReviewAction.IDENTIFY)
    code = f"{secrets.randbelow(10 ** DIGITS):0{DIGITS}}"
    made = _create_identification(actor, review, name.strip(), capacity.strip(), agrees, code,
                                  ip_address)
    _send(actor, review, code)
    return made


@transaction.atomic
def _create_identification(actor, review, name, capacity, agrees, code, ip_address
                           ) -> Identification:
    review = Review.objects.locked(review)
    require_signable(actor, review)
    power = _valid_power(actor, review)
    capacity = power.capacity if power else capacity
    if not (name and capacity):
        raise InvalidInput(_("Enter your name and the capacity in which you sign."))
    if not agrees:
        raise InvalidInput(_("Read and accept the terms of signing first."))
    if not actor.email:
        raise InvalidInput(_("Your account has no e-mail address to send the code to; ask the "
                             "project manager to add it."))
    now = timezone.now()
    _require_pause(actor, review, now)
    review.identifications.filter(user=actor, used_at=None).update(expires_at=now)
    salt = secrets.token_hex(16)
    made = Identification.objects.create(
        review=review, user=actor, name=name[:80], capacity=capacity[:80],
        terms_version=signing_terms.VERSION, terms_hash=signing_terms.digest(),
        sent_to=masked_address(actor.email), salt=salt, code_hash=_hash(salt, code), sent_at=now,
        expires_at=now + LIFETIME, ip_address=ip_address or None)
    record_action(actor, review, ReviewAction.IDENTIFY, {
        "sent_to": made.sent_to, "terms": made.terms_hash, "name": made.name,
        "capacity": made.capacity})
    return made


def require_signable(actor: User, review: Review) -> PowerOfAttorney | None:
    """Raise WrongState unless the document is decided, current, and the actor's to sign now.

    Returns the power of attorney under which he signs; there has to be a valid one where the
    contract asks for it or one was recorded.
    """
    require_move(actor, TRANSITIONS, review, ReviewAction.SIGN)
    return _valid_power(actor, review)


def _valid_power(user: User, review: Review) -> PowerOfAttorney | None:
    """The power under which the person signs today; None where none was ever recorded.

    Raises WrongState if the contract asks for one and there is none, or if all have ended.
    """
    rows = list(review.document.engagement.powers.filter(user=user))
    today = timezone.localdate()
    valid = next((row for row in rows if row.is_valid_on(today)), None)
    if valid is None and review.terms.get("needs_power") and not rows:
        raise WrongState(_("The contract requires a power of attorney, and none is recorded "
                           "for you; ask the project manager."))
    if valid is None and rows:
        raise WrongState(_("Your power of attorney is not valid today; ask the project manager."))
    return valid


def _require_pause(actor: User, review: Review, now) -> None:
    recent = review.identifications.filter(user=actor, sent_at__gt=now - timedelta(hours=1))
    newest = recent.first()
    if newest and newest.sent_at > now - PAUSE:
        raise WrongState(_("A code was just sent; request another in a minute."))
    if recent.count() >= MAX_CODES_PER_HOUR:
        raise WrongState(_("Too many codes were requested; try again in an hour."))


def check_code(*, actor: User, review: Review, code: str) -> Identification:
    """The actor's open identification, if the code is the one that was sent.

    Every wrong code counts and is noted in the audit log, also when the caller gives up
    afterwards.
    """
    with transaction.atomic():
        found = open_identification(actor, review, is_locked=True)
        if found is None:
            raise WrongState(_("No valid code; request a new one."))
        digits = re.sub(r"\D", "", str(code))[:DIGITS + 1]
        is_right = constant_time_compare(_hash(found.salt, digits), found.code_hash)
        if not is_right:
            found.attempts += 1
            found.save(update_fields=["attempts"])
            audit_log.record(actor=actor, action="review.wrong_code", target=review.document,
                             engagement=review.document.engagement,
                             data={"attempts": found.attempts})
    if not is_right:
        left = MAX_ATTEMPTS - found.attempts
        raise InvalidInput(
            ngettext("Wrong code; %(left)d attempt left.", "Wrong code; %(left)d attempts left.",
                     left) % {"left": left} if left
            else _("Wrong code, and it is no longer valid; request a new one."))
    return found


def open_identification(actor: User, review: Review, *, is_locked: bool = False
                        ) -> Identification | None:
    """The newest code of the actor that is unused, in time and not tried too often."""
    rows = review.identifications.filter(
        user=actor, used_at=None, expires_at__gt=timezone.now(), attempts__lt=MAX_ATTEMPTS)
    return (rows.select_for_update(of=("self",), no_key=True) if is_locked else rows).first()


def _hash(salt: str, code: str) -> str:
    return salted_hmac("acceptance.code", f"{salt}:{code}", algorithm="sha256").hexdigest()


def masked_address(address: str) -> str:
    """r***@company.example"""
    name, _at, host = address.partition("@")
    return f"{name[:1]}***@{host}"[:80]


def _send(actor: User, review: Review, code: str) -> None:
    def paragraphs() -> list[str]:
        return [_("Your code for signing %(document)s: %(code)s\n\nIt is valid "
                  "for ten minutes. If you did not request it, tell the project "
                  "manager: someone else may be using your account.\n").strip() % {
                      "document": review.document, "code": code}]

    try:
        send_mail(to=actor.email, subject=lambda: _("Code for signing"),
                  paragraphs=paragraphs, language=chosen_language(actor.pk) or get_language() or "")
    except (smtplib.SMTPException, OSError) as error:
        raise WrongState(_("The code could not be sent by e-mail; try again in a minute or tell "
                           "the project manager.")) from error
