"""Pages of invitations: the list with its preview, and the page behind the link."""

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import SetPasswordForm
from django.core import signing
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.portal.invitations import services
from delivery.portal.invitations.mail import invited_person
from delivery.portal.invitations.people_rows import (
    COLUMNS,
    MOST_PEOPLE,
    checked_rows,
    empty_list,
    people_rows,
)
from engagements.access import require_administrator
from engagements.errors import InvalidInput
from engagements.models import User
from engagements.services import accept_invitation
from engagements.web.form_actions import XLSX, attempt, attempt_form

SALT = "portal.people"  # of the rows that the preview carries to the next request


class ListForm(forms.Form):
    list = forms.FileField(label=gettext_lazy("List of people (.xlsx or CSV)"))


@require_http_methods(["GET", "POST"])
def invite(request):
    """The file, then the preview of its rows, then the invitations."""
    require_administrator(request.user)
    if "rows" in request.POST:
        return _confirmed(request)
    form = ListForm(request.POST or None, request.FILES or None)
    rows = []
    if form.is_valid():
        upload = form.cleaned_data["list"]
        try:
            rows = people_rows(upload, upload.name)
        except InvalidInput as error:
            form.add_error("list", error.message)
    return _page(request, form, rows)


def _page(request, form: ListForm, rows: list):
    return render(request, "delivery/portal/invite.html", {
        "form": form, "rows": rows, "limit": MOST_PEOPLE,
        "faults": sum(bool(row.faults) for row in rows),
        "headings": [heading for heading, _names in COLUMNS.values()],
        "signed": signing.dumps([[row.place, row.facts] for row in rows], salt=SALT,
                                compress=True) if rows else ""})


def _confirmed(request):
    try:
        found = signing.loads(request.POST["rows"], salt=SALT)
    except signing.BadSignature:
        messages.error(request, _("The preview was changed in transit; upload the list again."))
        return redirect("portal:invite")
    rows = checked_rows([(place, facts) for place, facts in found])
    if any(row.faults for row in rows):  # something changed since the preview
        return _page(request, ListForm(), rows)
    invited = attempt(
        request, lambda: services.invite_people(
            actor=request.user, people=[row.facts for row in rows]),
        lambda: ngettext("%(count)d person was invited by e-mail.",
                         "%(count)d people were invited by e-mail.",
                         len(rows)) % {"count": len(rows)})
    return redirect("people:list") if invited else redirect("portal:invite")


@require_GET
def invite_list(request):
    """The empty list to fill in."""
    require_administrator(request.user)
    answer = HttpResponse(empty_list(), content_type=XLSX)
    answer["Content-Disposition"] = 'attachment; filename="people.xlsx"'
    return answer


@require_POST
def invite_again(request, pk):
    require_administrator(request.user)
    person = get_object_or_404(User, pk=pk)
    attempt(request, lambda: services.invite_again(actor=request.user, person=person),
            _("The invitation is sent once more."))
    return redirect("people:person", pk)


@login_not_required
@require_http_methods(["GET", "POST"])
def invitation(request, token):
    """The page behind the link: a password of one's own."""
    person = invited_person(token)
    form = SetPasswordForm(person, request.POST or None) if person else None
    if form and form.is_valid() and attempt_form(form, lambda: accept_invitation(
            actor=person, password=form.cleaned_data["new_password1"])):
        messages.success(request, _("Your password is set; please sign in with it."))
        return redirect("login")
    return render(request, "registration/invitation.html", {"form": form, "person": person})
