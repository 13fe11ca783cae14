"""Expected failures that a page did not catch become the fitting answer."""

from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied

from engagements.conflict_retry import is_duplicate
from engagements.decisions import SignInTooOld
from engagements.errors import NotAllowed, Unavailable
from engagements.web.open_page import leave_to, open_page
from engagements.web.problem_responses import duplicate_sentence


class NotAllowedMiddleware:
    """NotAllowed, raised by a page, answers 403; what needs a newer sign-in leads to one and back;
    Unavailable leads back to its form. Where another writer was quicker with a row of the same name
    or number, the page that was open says so."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        return self.get_response(request)

    def process_exception(self, request, exception):
        if isinstance(exception, SignInTooOld):
            messages.warning(request, exception.message)
            logout(request)
            return leave_to(request, redirect_to_login(open_page(request))["Location"])
        if isinstance(exception, NotAllowed):
            raise PermissionDenied(exception.message) from exception
        if isinstance(exception, Unavailable):
            messages.error(request, exception.message)
            return leave_to(request, request.get_full_path())
        if is_duplicate(exception):
            messages.error(request, duplicate_sentence())
            return leave_to(request, open_page(request))
        return None
