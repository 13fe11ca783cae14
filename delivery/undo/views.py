"""The button “Undo” of a toast."""

from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from delivery.undo.actions import inverse_of
from engagements.web.form_actions import attempt


@require_POST
def undo(request):
    """Take back what the note names, and go back to the page of the toast."""
    def take_back() -> None:
        inverse_of(request.user, request.POST.get("note", ""))()

    attempt(request, take_back, _("Undone."))
    place = request.POST.get("next", "")
    return redirect(place if url_has_allowed_host_and_scheme(place, None) else "portal:home")
