"""A second factor for roles that need one."""

from allauth.account.authentication import get_authentication_records
from allauth.mfa.utils import is_mfa_enabled
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import resolve, reverse
from django.utils.translation import gettext as _

from delivery.sign_on.settings import SECOND_FACTOR_ROLES
from engagements.models import User

# Reached without one: making it, and leaving.
ALLOWED = ("mfa_", "logout", "set_language", "account_reauthenticate", "account_logout",
           "operation:alive", "operation:ready")


def has_or_needs_one(user: User) -> bool:
    """Whether a password alone is not enough for this person."""
    return user.role in SECOND_FACTOR_ROLES or is_mfa_enabled(user)


class SecondFactorMiddleware:
    """Leads whoever signed in with a password only, and has no second factor yet, to making one.

    Who came from a provider showed it there what it wants; API tokens were made after a sign-in.
    """

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated and self._is_missing(request):
            messages.warning(request, _("Your role needs a second factor: please set one up."))
            return redirect(reverse("mfa_index"))
        return self.get_response(request)

    def _is_missing(self, request: HttpRequest) -> bool:
        if request.user.role not in SECOND_FACTOR_ROLES:
            return False
        if resolve(request.path_info).view_name.startswith(ALLOWED):
            return False
        came_by = {record.get("method") for record in get_authentication_records(
            request, request.user)}
        return "socialaccount" not in came_by and not is_mfa_enabled(request.user)
