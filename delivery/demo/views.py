"""Pages of the practice data: how far it is, and its removal."""

from django.contrib import messages
from django.contrib.auth import login, logout
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.demo.forms import RemovalForm
from delivery.demo.practice_removal import real_things, remove_practice
from delivery.demo.progress_labels import banner
from delivery.demo.sample_node import ask_for_practice_node
from engagements.access import require_administrator
from engagements.models import Engagement, User
from engagements.text.text_joining import listed
from engagements.web.form_actions import attempt, attempt_form

BACKEND = "django.contrib.auth.backends.ModelBackend"


@require_GET
def progress(request):
    """The banner as it is now."""
    return render(request, "delivery/demo/banner.html", {"practice": banner()})


@require_http_methods(["GET", "POST"])
def practice(request):
    """What practice data there is; removes it where nothing real stands beside it."""
    require_administrator(request.user)
    form = RemovalForm(request.POST or None)
    if form.is_valid() and attempt_form(form, lambda: _remove(
            request, User.objects.get(pk=request.user.pk), form.cleaned_data["password"])):
        messages.success(request, _("Practice data removed. Start by adding people."))
        return redirect("portal:home")
    return render(request, "delivery/demo/practice.html", {
        "form": form, "real": listed(real_things()),
        "engagements": Engagement.objects.filter(has_practice_data=True)})


@require_POST
def practice_node(request):
    """Ask `./desk run` for a practice node."""
    attempt(request, lambda: ask_for_practice_node(actor=request.user),
            _("The practice node is being started; it appears here in a few seconds."))
    return redirect("workers:nodes")


def _remove(request, actor: User, password: str) -> bool:
    """The sessions go with everything else: a new one begins."""
    remove_practice(actor=actor, password=password)
    logout(request)
    login(request, actor, backend=BACKEND)
    return True
