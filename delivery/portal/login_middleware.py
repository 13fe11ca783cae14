"""What happens to somebody whose sign-in has ended while a page was open."""

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse

from engagements.web.open_page import is_fragment, leave_to, open_page


class SignInMiddleware(LoginRequiredMiddleware):
    """Back to the page that was open, never to an address that only takes entries."""

    def handle_no_permission(self, request: HttpRequest, view_func) -> HttpResponse:
        if request.method in ("GET", "HEAD") and not is_fragment(request):
            return super().handle_no_permission(request, view_func)
        answer = redirect_to_login(open_page(request), self.get_login_url(view_func))
        return leave_to(request, answer["Location"])
