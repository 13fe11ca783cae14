"""Identifies a signer: agreement to the terms, then a one-time code by e-mail or, where the account
has one, the code of the authenticator app or a passkey, which signs the hash of what is signed.

What somebody signs are plain facts with one hash over them: the issued document, the decision and
all that hangs on it. Nothing changes between what was shown and the signature.
"""

import hashlib
import re
import secrets
import smtplib
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from bundle_verifier.canonical import canonical
from delivery.acceptance.models import BlockerWaiver, Identification, PowerOfAttorney, Review
from delivery.acceptance.review.transitions import TRANSITIONS, ReviewAction, record_action
from delivery.acceptance.services.blocker_waivers import require_no_blocker
from delivery.acceptance.services.reviews import correction_page
from delivery.acceptance.signing import signing_terms
from delivery.reports.facts.trial_run import OTHER_CRITERIA
from delivery.sign_on.authenticator_app import has_authenticator_app, is_code_of_app
from delivery.sign_on.passkeys import has_passkey, proof_of, request_of
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
MAIL, APP, PASSKEY = Identification.Way.values


def statement_of(review: Review) -> dict:
    """The facts as they are now. What the document itself says stands under its content hash."""
    document = review.document
    waivers = [row.content_hash for row in BlockerWaiver.objects.in_force(review.engagement)]
    return {
        "document": str(document), "content_hash": document.content_hash,
        "files": dict(document.files.filter(format="pdf").values_list("language", "sha256")),
        "phase": review.phase, "decision": review.decision, "reason": review.reason,
        "retest_on": f"{review.retest_on or ''}",
        "models": [{"model": row.model.code, "decision": row.decision, "reason": row.reason}
                   for row in review.model_decisions.select_related("model")],
        "conditions": [{
            "description": row.description, "owner": row.owner, "due_on": f"{row.due_on}",
            "effect": row.effect, "model": row.model.code if row.model else ""}
            for row in review.conditions.select_related("model")],
        "open_comments": [row.text for row in review.open_comments()],
        **({"waivers": waivers} if waivers else {}),
        "missing": [{"title": row.title, "remark": row.remark} for row in review.missing()],
    }


def statement_hash(statement: dict) -> str:
    """SHA-256 over the facts in their one spelling."""
    return hashlib.sha256(canonical(statement).encode()).hexdigest()


def begin_signing(*, actor: User, review: Review, agrees: bool, name: str = "",
                  capacity: str = "", way: str = MAIL, ip_address: str | None = None
                  ) -> Identification:
    """Record the signer, what is signed and the agreement to the terms; send a one-time code by
    e-mail, which says what it signs.

    The code goes to the account's e-mail address, in the language that the signer chose for
    e-mails, else in that of the request. It lives LIFETIME and five attempts; only its keyed
    hash is stored. One a minute and five an hour. Writes an audit entry.

    Args:
        name: the account's own, as it is where nothing is given; another person's only if that
            person granted the signer's power of attorney.
        capacity: needed where neither a power of attorney nor the order of signers nor the account
            (its job title) names one; these go before it in that order.
        way: mail; app for the code of the account's authenticator app, or passkey: then none is
            sent.
    """
    require_permission(actor, TRANSITIONS, review, ReviewAction.IDENTIFY)
    code = f"{secrets.randbelow(10 ** DIGITS):0{DIGITS}}"
    made = _create_identification(actor, review, name.strip(), capacity.strip(), agrees, code,
                                  way, ip_address)
    if made.way == MAIL:
        _send(actor, made, code)
    return made


@transaction.atomic
def _create_identification(actor, review, name, capacity, agrees, code, way, ip_address
                           ) -> Identification:
    review = Review.objects.locked(review)
    power = require_signable(actor, review)
    name = _signing_name(actor, power, name)
    capacity = known_capacity(actor, review, power) or capacity
    if not capacity:
        raise InvalidInput(_("Enter the capacity in which you sign."))
    if not agrees:
        raise InvalidInput(_("Read and accept the terms of signing first."))
    is_sent = way == MAIL
    if way == APP and not has_authenticator_app(actor):
        raise InvalidInput(_("Your account has no authenticator app; have the code sent by "
                             "e-mail."))
    if way == PASSKEY and not has_passkey(actor):
        raise InvalidInput(_("Your account has no passkey; have the code sent by e-mail."))
    if is_sent and not actor.email:
        raise InvalidInput(_("Your account has no e-mail address to send the code to; ask the "
                             "project manager to add it."))
    now = timezone.now()
    _require_pause(actor, review, now, PAUSE if is_sent else timedelta(0))
    review.identifications.filter(user=actor, used_at=None).update(expires_at=now)
    salt, statement = secrets.token_hex(16), statement_of(review)
    made = Identification.objects.create(
        review=review, user=actor, name=name[:80], capacity=capacity[:80],
        terms_version=signing_terms.VERSION, terms_hash=signing_terms.digest(),
        statement=statement, statement_hash=statement_hash(statement),
        way=way, sent_to=masked_address(actor.email) if is_sent else "",
        salt=salt if way != APP else "", code_hash=_hash(salt, code) if is_sent else "",
        sent_at=now,
        expires_at=now + LIFETIME, ip_address=ip_address or None)
    record_action(actor, review, ReviewAction.IDENTIFY, {
        "way": made.way, "sent_to": made.sent_to, "terms": made.terms_hash, "name": made.name,
        "capacity": made.capacity, "statement": made.statement_hash, "ip": ip_address or ""})
    return made


def _signing_name(actor: User, power: PowerOfAttorney | None, name: str) -> str:
    own = {actor.get_full_name(), actor.full_name_en, actor.username} - {""}
    if name and name not in own | ({power.granted_by} if power else set()):
        raise InvalidInput(_("You sign in your own name, %(name)s. Another person signs with an "
                             "account of their own or gives you a power of attorney.") % {
            "name": actor.get_full_name()})
    return name or actor.get_full_name()


def known_capacity(actor: User, review: Review, power: PowerOfAttorney | None) -> str:
    """The capacity that is on record for the signer; "" for none."""
    named = next((row.capacity for row in review.signers.all() if row.user_id == actor.pk), "")
    return (power.capacity if power else "") or named or actor.job_title


def require_signable(actor: User, review: Review) -> PowerOfAttorney | None:
    """Raise WrongState unless the document is decided, current, and the actor's to sign now.

    Returns the power of attorney under which he signs; there has to be a valid one where the
    contract asks for it or one was recorded.
    """
    require_move(actor, TRANSITIONS, review, ReviewAction.SIGN)
    require_no_blocker(review)
    require_criteria_in_force(review)
    return valid_power(actor, review)


def require_criteria_in_force(review: Review) -> None:
    """Raise WrongState for an acceptance under criteria that others have replaced since."""
    if review.document.has_former_criteria and review.decision in (
            Review.Decision.ACCEPTED, Review.Decision.CONDITIONAL, Review.Decision.DEEMED):
        raise WrongState(str(OTHER_CRITERIA), cures=[correction_page(review.document)])


def valid_power(user: User, review: Review, *, is_asked: bool = True) -> PowerOfAttorney | None:
    """The power under which the person signs today; None where none was ever recorded.

    Args:
        is_asked: raise WrongState if the contract asks for one and there is none, or if all have
            ended.
    """
    rows = list(review.document.engagement.powers.filter(user=user))
    today = timezone.localdate()
    valid = next((row for row in rows if row.is_valid_on(today)), None)
    if valid or not is_asked:
        return valid
    if review.terms.get("needs_power") and not rows:
        raise WrongState(_("The contract requires a power of attorney, and none is recorded "
                           "for you; ask the project manager."))
    if rows:
        raise WrongState(_("Your power of attorney is not valid today; ask the project manager."))
    return None


def _require_pause(actor: User, review: Review, now, pause: timedelta) -> None:
    recent = review.identifications.filter(user=actor, sent_at__gt=now - timedelta(hours=1))
    newest = recent.first()
    if newest and newest.sent_at > now - pause:
        raise WrongState(_("A code was just sent; request another in a minute."))
    if recent.count() >= MAX_CODES_PER_HOUR:
        raise WrongState(_("Too many codes were requested; try again in an hour."))


def check_code(*, actor: User, review: Review, code: str, passkey: dict | None = None,
               ip_address: str | None = None) -> Identification:
    """The actor's open identification, if the code is the one that was sent, or the passkey's
    answer fits its challenge.

    Every wrong one counts and is noted in the audit log, also when the caller gives up afterwards.
    """
    with transaction.atomic():
        review = Review.objects.locked(review)
        found = open_identification(actor, review, statement_hash(statement_of(review)),
                                    is_locked=True)
        if found is None:
            raise WrongState(
                _("What is signed has changed since the code was sent: read it again and request "
                  "a new code.") if _live_codes(actor, review).exists()
                else _("No valid code; request a new one."))
        is_right = _is_right(actor, found, code, passkey)
        if not is_right:
            found.attempts += 1
            found.save(update_fields=["attempts"])
            audit_log.record(actor=actor, action="review.wrong_code", target=review.document,
                             engagement=review.document.engagement,
                             data={"attempts": found.attempts, "ip": ip_address or ""})
    if not is_right:
        left = MAX_ATTEMPTS - found.attempts
        if found.way == PASSKEY and left:
            raise InvalidInput(_("The passkey's answer does not fit; please try again."))
        raise InvalidInput(
            ngettext("Wrong code; %(left)d attempt left.", "Wrong code; %(left)d attempts left.",
                     left) % {"left": left} if left
            else _("Wrong code, and it is no longer valid; request a new one."))
    return found


def _is_right(actor: User, found: Identification, code: str, passkey: dict | None) -> bool:
    """Puts the answer of a passkey in its place; whoever stores the signature saves it."""
    if found.way == PASSKEY:
        found.proof = proof_of(actor, challenge_of(found), passkey)
        return bool(found.proof)
    if not code:
        raise InvalidInput(_("Enter the one-time code."))
    digits = re.sub(r"\D", "", str(code))[:DIGITS + 1]
    return (is_code_of_app(actor, digits) if found.way == APP else
            constant_time_compare(_hash(found.salt, digits), found.code_hash))


def challenge_of(found: Identification) -> bytes:
    """What a passkey signs: SHA-256 over the salt, a colon and the hash of what is signed."""
    return hashlib.sha256(f"{found.salt}:{found.statement_hash}".encode()).digest()


def passkey_request(found: Identification) -> dict | None:
    """What the signer's browser asks the authenticators; None for another way."""
    return request_of(found.user, challenge_of(found)) if found.way == PASSKEY else None


def open_identification(actor: User, review: Review, digest: str, *, is_locked: bool = False
                        ) -> Identification | None:
    """The newest code of the actor that is unused, in time, not tried too often, and was sent for
    what would be signed now.

    Args:
        digest: `statement_hash` of it.
    """
    rows = _live_codes(actor, review).filter(statement_hash=digest)
    return (rows.select_for_update(of=("self",), no_key=True) if is_locked else rows).first()


def _live_codes(actor: User, review: Review):
    return review.identifications.filter(
        user=actor, used_at=None, expires_at__gt=timezone.now(), attempts__lt=MAX_ATTEMPTS)


def _hash(salt: str, code: str) -> str:
    return salted_hmac("acceptance.code", f"{salt}:{code}", algorithm="sha256").hexdigest()


def masked_address(address: str) -> str:
    """r***@company.example"""
    name, _at, host = address.partition("@")
    return f"{name[:1]}***@{host}"[:80]


def _send(actor: User, made: Identification, code: str) -> None:
    review, document, engagement = made.review, made.review.document, made.review.engagement

    def paragraphs() -> list[str]:
        minutes = LIFETIME // timedelta(minutes=1)
        asked = ngettext(
            "Your code for signing %(document)s: %(code)s\n\nIt is valid for %(minutes)d minute. "
            "If you did not request it, tell the project manager: someone else may be using your "
            "account.",
            "Your code for signing %(document)s: %(code)s\n\nIt is valid for %(minutes)d minutes. "
            "If you did not request it, tell the project manager: someone else may be using your "
            "account.", minutes) % {
                "document": document, "code": code, "minutes": minutes}
        rows = [_("You sign: %(decision)s") % {
            "decision": str(review.get_decision_display()).upper()}]
        rows += [f"- {row.description} · {row.owner} · {row.due_on} · {row.get_effect_display()}"
                 for row in review.conditions.all()]
        return [asked, "\n".join(rows), f"{engagement.code} {engagement.localized_name}",
                _("Hash of what you sign (SHA-256): %(hash)s") % {"hash": made.statement_hash}]

    try:
        send_mail(to=actor, subject=lambda: _("Code for signing"),
                  paragraphs=paragraphs,
                  language=chosen_language(actor.pk) or get_language() or "")
    except (smtplib.SMTPException, OSError) as error:
        raise WrongState(_("The code could not be sent by e-mail; try again in a minute or tell "
                           "the project manager.")) from error
