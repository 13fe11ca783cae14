"""A second factor, which each session has shown, for roles that need one and whoever has one."""

from allauth.account.adapter import get_adapter
from allauth.account.authentication import get_authentication_records
from allauth.account.internal.flows.login import record_authentication
from allauth.mfa.signals import authenticator_added
from allauth.mfa.utils import is_mfa_enabled
from django.contrib import messages
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from delivery.sign_on.settings import SECOND_FACTOR_ROLES
from engagements.models import User

SHOWN_BY = {"mfa", "socialaccount"}  # who comes from a provider showed it there what it wants
ALWAYS_OPEN = {"logout", "account_logout", "set_language", "operation:alive", "operation:ready"}
# All others of the library would give whoever knows the password a factor or recovery codes.
OPEN_FOR_SHOWING = ALWAYS_OPEN | {"mfa_reauthenticate", "mfa_reauthenticate_webauthn"}
OPEN_FOR_MAKING = ALWAYS_OPEN | {"mfa_index", "mfa_activate_totp", "mfa_add_webauthn",
                                 "account_reauthenticate"}


def has_or_needs_one(user: User) -> bool:
    """Whether a password alone is not enough for this person."""
    return user.role in SECOND_FACTOR_ROLES or is_mfa_enabled(user)


class SecondFactorMiddleware:
    """Leads a session that has shown no second factor to showing it, or to making one where the
    role needs it and there is none yet; however it began.

    API tokens were made after a sign-in.
    """

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view) -> HttpResponse | None:
        user, view = request.user, request.resolver_match.view_name
        if not user.is_authenticated or view in ALWAYS_OPEN:
            return None
        shown = SHOWN_BY & {record.get("method") for record in get_authentication_records(
            request, user)}
        if not is_mfa_enabled(user):
            if user.role not in SECOND_FACTOR_ROLES or "socialaccount" in shown or (
                    view in OPEN_FOR_MAKING):
                return None
            messages.warning(request, _("Your role needs a second factor: please set one up."))
            return redirect(reverse("mfa_index"))
        if shown or view in OPEN_FOR_SHOWING:
            return None
        return _showing(request)


def _showing(request: HttpRequest) -> HttpResponse:
    """To the page that asks for it; afterwards back to this one."""
    [page, *_others] = [method["url"] for method in get_adapter().get_reauthentication_methods(
        request.user) if method["id"].startswith("mfa")]
    messages.warning(request, _("This sign-in has shown no second factor yet: please show it."))
    back = {"next": request.get_full_path()} if request.method == "GET" else {}
    return redirect(f"{page}?{urlencode(back)}")


@receiver(authenticator_added)
def made(sender, request, user, authenticator, **_rest) -> None:
    """Who has just set one up has shown it."""
    record_authentication(request, user, "mfa", id=authenticator.pk, type=authenticator.type)
