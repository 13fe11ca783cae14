"""Writes about API tokens: made, revoked, ended with their owner."""

import secrets
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.access import require_visible
from engagements.audit import audit_log
from engagements.decisions import PersonDecides, require_recent_sign_in
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import ApiToken, Engagement, Role, User
from engagements.models.api_token import KEY_PREFIX, MOST_DECIDING_DAYS, SHOWN_CHARACTERS, key_hash
from engagements.services.field_validation import validate_row


@transaction.atomic
def create_token(*, actor: User, owner: User, name: str, scope: str = ApiToken.Scope.READ,
                 engagement: Engagement | None = None, days: int | None = None
                 ) -> tuple[ApiToken, str]:
    """A token for oneself or, by an administrator, for a service account; with its key, which is
    not stored and cannot be shown again.

    Args:
        engagement: the only one that the token reaches; None: all that the owner sees.
        days: until it expires; API_TOKEN_DAYS, or MOST_DECIDING_DAYS, if left out.
    Raises:
        NotAllowed: of somebody else, asked for with a token, or one that decides where the
            installation has none or the sign-in is too old.
        InvalidInput: more days than settings allow.
    """
    _require_own_or_service(actor, owner)
    if scope == ApiToken.Scope.AGENT:
        raise InvalidInput(_("An agent gets its token where it is added to its engagement."))
    most = settings.API_TOKEN_MAX_DAYS
    if scope == ApiToken.Scope.DECIDE:
        if not settings.DECIDING_TOKENS:
            raise NotAllowed(_("Tokens do not decide here: the installation has not allowed it."))
        require_recent_sign_in(actor)
        most = min(most, MOST_DECIDING_DAYS)
    days = min(most, settings.API_TOKEN_DAYS) if days is None else days
    if not 1 <= days <= most:
        raise InvalidInput(_("A token is valid for 1 to %(most)s days.") % {"most": most})
    require_visible(owner, engagement)
    key, columns = make_key()
    now = timezone.now()
    token = ApiToken(owner=owner, name=name.strip(), scope=scope, engagement=engagement,
                     created_by=actor, created_at=now, expires_at=now + timedelta(days=days),
                     **columns)
    validate_row(token)
    token.save()
    audit_log.record(actor=actor, action="token.create", target=token, engagement=engagement,
                     data={"owner": owner.username, "scope": scope, "days": days})
    return token, key


def make_key() -> tuple[str, dict[str, str]]:
    """A new key, and the columns of its token."""
    key = KEY_PREFIX + secrets.token_urlsafe(32)
    return key, {"key_hash": key_hash(key), "key_start": key[:SHOWN_CHARACTERS]}


@transaction.atomic
def revoke_token(*, actor: User, token: ApiToken) -> ApiToken:
    """End a token at once; its owner or an administrator. Nothing happens to one that has ended."""
    if actor.pk != token.owner_id and actor.role != Role.ADMINISTRATOR:
        raise NotAllowed(_("Only its owner or an administrator may do this."))
    if actor.token and actor.token.pk != token.pk and not actor.token.may_decide:
        raise PersonDecides(_("A token may end only itself."))
    token = ApiToken.objects.select_for_update(no_key=True, of=("self",)).get(pk=token.pk)
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        audit_log.record(actor=actor, action="token.revoke", target=token,
                         engagement=token.engagement)
    return token


def revoke_tokens_of(person: User) -> int:
    """End all tokens of a person, inside the service that locks them out or changes the password;
    how many there were."""
    return ApiToken.objects.filter(owner=person, revoked_at=None).update(revoked_at=timezone.now())


def _require_own_or_service(actor: User, owner: User) -> None:
    if actor.token is not None:
        raise NotAllowed(_("A token cannot create tokens; sign in with your password."))
    if actor.pk != owner.pk and not (actor.role == Role.ADMINISTRATOR and owner.is_service):
        raise NotAllowed(_("Tokens are created by their owner; those of service accounts by "
                           "administrators."))
