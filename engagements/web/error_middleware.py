"""Expected failures that a page did not catch become the fitting error page."""

from django.core.exceptions import PermissionDenied

from engagements.errors import NotAllowed


class NotAllowedMiddleware:
    """NotAllowed, raised by a page, answers 403."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        return self.get_response(request)

    def process_exception(self, request, exception):
        if isinstance(exception, NotAllowed):
            raise PermissionDenied(exception.message) from exception
