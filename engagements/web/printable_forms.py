"""What people type or paste into a form arrives without characters that show nothing."""

from django.http import HttpRequest, HttpResponse, QueryDict

from engagements.text.printable_text import UNPRINTABLE, printable
from engagements.web.problem_responses import API


class PrintableFormsMiddleware:
    """Takes such characters out of forms and searches: they come with text pasted from other
    programs, and nobody could find them in the field. The API refuses them instead."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.META.get("QUERY_STRING") and not request.path_info.startswith(API):
            request.GET = _printable(request.GET)
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view) -> None:
        request.POST = _printable(request.POST)


def _printable(sent: QueryDict) -> QueryDict:
    """The same entries, lines ended by a line feed as they are stored: browsers send a carriage
    return before it, and a text that nobody changed would differ from itself."""
    if not any(UNPRINTABLE.search(value) for _name, values in sent.lists() for value in values):
        return sent
    clean = QueryDict(mutable=True, encoding=sent.encoding)
    for name, values in sent.lists():
        clean.setlist(printable(name), [printable(value) for value in values])
    clean._mutable = False
    return clean
