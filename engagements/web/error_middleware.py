"""Expected failures that a page did not catch become the fitting answer."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme

from engagements.conflict_retry import is_duplicate
from engagements.errors import NotAllowed
from engagements.web.problem_responses import duplicate_sentence


class NotAllowedMiddleware:
    """NotAllowed, raised by a page, answers 403. Where another writer was quicker with a row of the
    same name or number, the page that was open says so."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        return self.get_response(request)

    def process_exception(self, request, exception):
        if isinstance(exception, NotAllowed):
            raise PermissionDenied(exception.message) from exception
        if is_duplicate(exception):
            messages.error(request, duplicate_sentence())
            page = request.headers.get("Referer", "")
            return redirect(page if url_has_allowed_host_and_scheme(page, {request.get_host()})
                            else "/")
        return None
