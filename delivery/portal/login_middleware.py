"""What a request knows of its sign-in, and what happens where that has ended while a page was open.
"""

from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from engagements.services.sign_ins import SIGNED_IN_AT
from engagements.web.open_page import is_fragment, leave_to, open_page


class SignInMiddleware(LoginRequiredMiddleware):
    """Back to the page that was open, never to an address that only takes entries."""

    def process_view(self, request: HttpRequest, view_func, view_args, view_kwargs):
        if request.user.is_authenticated:
            request.user.signed_in_at = request.session.get(SIGNED_IN_AT, 0)
        if request.user.is_authenticated and request.user.has_ended:
            messages.error(request, _("The access of this account ended on %(day)s.") % {
                "day": request.user.access_ends_on})
            logout(request)
        return super().process_view(request, view_func, view_args, view_kwargs)

    def handle_no_permission(self, request: HttpRequest, view_func) -> HttpResponse:
        if request.method in ("GET", "HEAD") and not is_fragment(request):
            return super().handle_no_permission(request, view_func)
        answer = redirect_to_login(open_page(request), self.get_login_url(view_func))
        return leave_to(request, answer["Location"])
