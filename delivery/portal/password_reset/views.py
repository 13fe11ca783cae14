"""Asking for the link, and the page that it opens. No answer says whether an account exists."""

from django import forms
from django.contrib import messages
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import SetPasswordForm
from django.db.models import Q
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from engagements import services
from engagements.models import User
from engagements.queue import enqueue
from engagements.web.address_limit import count_request
from engagements.web.form_actions import attempt_form

SEND_LINK = "portal.send_password_link"
SPAN_SECONDS = 1800
MOST_PER_ADDRESS = 10
MOST_PER_ACCOUNT = 3
MOST_ACCOUNTS = 5  # that share an e-mail address


class LinkForm(forms.Form):
    account = forms.CharField(label=gettext_lazy("Log-in name or e-mail address"), max_length=254)


@login_not_required
@require_http_methods(["GET", "POST"])
def ask(request):
    form = LinkForm(request.POST or None)
    if form.is_valid():
        _send_links(request, form.cleaned_data["account"].strip())
        messages.success(request, _("If there is such an account with an e-mail address, a link "
                                    "is on its way. It works for an hour, an invitation for "
                                    "seven days."))
        return redirect("login")
    return render(request, "registration/password_link.html", {"form": form})


def _send_links(request, account: str) -> None:
    address = request.META.get("REMOTE_ADDR", "")
    if count_request("password-links", address, SPAN_SECONDS) > MOST_PER_ADDRESS:
        return
    found = User.objects.filter(Q(username=account) | Q(email__iexact=account),
                                is_active=True).exclude(email="").order_by("pk")
    for pk in found.values_list("pk", flat=True)[:MOST_ACCOUNTS]:
        if count_request("password-links-of", str(pk), SPAN_SECONDS) <= MOST_PER_ACCOUNT:
            enqueue(SEND_LINK, pk, expires=SPAN_SECONDS)


@method_decorator(login_not_required, name="dispatch")
class ChoosePasswordView(auth.PasswordResetConfirmView):
    """The page behind the link."""

    form_class = SetPasswordForm
    template_name = "registration/password_choice.html"

    def form_valid(self, form):
        if not attempt_form(form, lambda: services.reset_password(
                actor=self.user, password=form.cleaned_data["new_password1"])):
            return self.form_invalid(form)
        self.request.session.pop("_password_reset_token", None)
        messages.success(self.request, _("Your new password is set; please sign in with it."))
        return redirect("login")
