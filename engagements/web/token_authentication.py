"""API tokens in the `Authorization` header, within their scope."""

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.permissions import SAFE_METHODS

from engagements.models import ApiToken, User
from engagements.web.address_limit import count_request
from engagements.web.mcp_attestation import attested_hash

KEYWORDS = (b"token", b"bearer")
MOST_WRONG, WRONG_SECONDS = 20, 60  # tokens from one address in that time
LAST_USE_STEP = timedelta(minutes=1)  # how exactly the last use is known


class ApiTokenAuthentication(BaseAuthentication):
    """`Authorization: Token desk_…` (or `Bearer`)."""

    def authenticate(self, request) -> tuple[User, ApiToken] | None:
        """The token's owner, whose `token` limits what `visible_to` and `require` give."""
        words = _words(request)
        if not words:
            return None
        if len(words) != 2:
            raise exceptions.AuthenticationFailed(_("Write: Authorization: Token KEY"))
        token = token_in(request)
        if token is None:
            address = request.META.get("REMOTE_ADDR", "")
            if count_request("wrong-token", address, WRONG_SECONDS) > MOST_WRONG:
                raise exceptions.Throttled(WRONG_SECONDS)  # a good token still works from there
            raise exceptions.AuthenticationFailed(
                _("This token is unknown, revoked or expired."))
        _require_scope(token, request)
        note_use(token, request.META.get("REMOTE_ADDR") or None)
        token.owner.token = token
        return token.owner, token

    def authenticate_header(self, request) -> str:
        return "Token"


def token_in(request) -> ApiToken | None:
    """The token in force whose key the request brings, if any. A key that is for the MCP server
    counts only there: that server names its hash and signs that it has seen the key."""
    words = _words(request)
    if len(words) != 2:
        return None
    key, audience = words[1].decode("latin-1"), ApiToken.Audience
    found = ApiToken.objects.in_force().exclude(scope=ApiToken.Scope.CALENDAR).select_related(
        "owner", "agent")
    if attested := attested_hash(key):
        return found.filter(audience=audience.MCP, key_hash=attested).first()
    return found.filter(audience=audience.API).with_key(key).first()


def _words(request) -> list[bytes]:
    """Of the header `Authorization`, where it names a token."""
    words = get_authorization_header(request).split()
    return words if words and words[0].lower() in KEYWORDS else []


def _require_scope(token: ApiToken, request) -> None:
    if request.method in SAFE_METHODS or token.scope in (
            ApiToken.Scope.WRITE, ApiToken.Scope.DECIDE, ApiToken.Scope.AGENT):
        return
    view = request.parser_context.get("view")
    if token.scope == ApiToken.Scope.JOBS and getattr(view, "is_job_work", False):
        return
    if request.method == "DELETE" and _is_its_own(token, view):
        return
    raise exceptions.PermissionDenied(_("The scope of this token (%(scope)s) does not allow this.")
                                      % {"scope": token.get_scope_display()})


def _is_its_own(token: ApiToken, view) -> bool:
    """Whatever a token may do, it may end itself."""
    model = getattr(getattr(view, "queryset", None), "model", None)
    return model is ApiToken and view.kwargs.get("pk") == str(token.pk)


def note_use(token: ApiToken, address: str | None) -> None:
    """When and from where it was used, to LAST_USE_STEP."""
    now = timezone.now()
    ApiToken.objects.filter(
        Q(last_used_at=None) | Q(last_used_at__lt=now - LAST_USE_STEP), pk=token.pk,
    ).update(last_used_at=now, last_used_from=address)


class ApiTokenScheme(OpenApiAuthenticationExtension):
    target_class = ApiTokenAuthentication
    name = "tokenAuth"

    def get_security_definition(self, auto_schema) -> dict:
        return {"type": "apiKey", "in": "header", "name": "Authorization",
                "description": 'Token-based authentication with required prefix "Token"'}
