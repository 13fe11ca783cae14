"""What happens to somebody whose sign-in has ended while a page was open."""

from urllib.parse import urlsplit

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.utils.http import url_has_allowed_host_and_scheme


class SignInMiddleware(LoginRequiredMiddleware):
    """Back to the page that was open, never to an address that only takes entries."""

    def handle_no_permission(self, request: HttpRequest, view_func) -> HttpResponse:
        is_fragment = request.headers.get("HX-Request") == "true"
        if request.method in ("GET", "HEAD") and not is_fragment:
            return super().handle_no_permission(request, view_func)
        answer = redirect_to_login(_open_page(request), self.get_login_url(view_func))
        if is_fragment:  # a redirect would put the login into the middle of the open page
            return HttpResponse(headers={"HX-Redirect": answer["Location"]})
        return answer


def _open_page(request: HttpRequest) -> str:
    """Path of the page that sent the request, if it is one of ours; else the desk."""
    page = request.headers.get("HX-Current-URL") or request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(page, {request.get_host()}):
        return "/"
    address = urlsplit(page)
    return address.path + (f"?{address.query}" if address.query else "")
