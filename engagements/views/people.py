"""Pages of people and customers: each parses its request, calls one service and answers."""

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.db.models import Prefetch
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from engagements import queries, services
from engagements.access import Can, allowed, require, require_administrator
from engagements.forms import CustomerForm, OwnPasswordForm, PersonForm
from engagements.models import Customer, Engagement, Role, User
from engagements.search_index import pages_of
from engagements.web.form_actions import attempt_form
from engagements.web.paging import page_of

PER_PAGE = 50


@require_GET
def people(request):
    require_administrator(request.user)
    found = queries.filtered_people(User.objects.all(), request.GET)
    return render(request, "engagements/people.html", {
        "page": page_of(found, request.GET, PER_PAGE), "roles": Role.choices})


@require_http_methods(["GET", "POST"])
def person_new(request):
    require_administrator(request.user)
    return _person(request, None)


@require_http_methods(["GET", "POST"])
def person(request, pk):
    require_administrator(request.user)
    return _person(request, get_object_or_404(User, pk=pk))


def _person(request, row: User | None):
    form = PersonForm(request.POST or None, instance=row)
    if form.is_valid():
        fields = dict(form.cleaned_data)
        service = (lambda: services.update_person(actor=request.user, person=row, **fields)
                   ) if row else (lambda: services.add_person(actor=request.user, **fields))
        if attempt_form(form, service):
            messages.success(request, _("Saved."))
            return redirect("people:new" if "again" in request.POST else "people:list")
    return render(request, "engagements/person.html", {"form": form, "person": row})


@require_GET
def customers(request):
    require(request.user, Can.VIEW_INTERNAL)
    found = queries.filtered_customers(Customer.objects.visible_to(request.user), request.GET)
    return render(request, "engagements/customers.html", {
        "page": page_of(found.prefetch_related(
            Prefetch("engagements", Engagement.objects.visible_to(request.user))),
            request.GET, PER_PAGE, pages_of(request.GET))})


@require_http_methods(["GET", "POST"])
def customer(request, pk):
    require(request.user, Can.MANAGE if allowed(request.user, Can.MANAGE) else Can.PRICE)
    row = get_object_or_404(Customer.objects.visible_to(request.user), pk=pk)
    form = CustomerForm(request.POST or None, instance=row)
    if form.is_valid() and attempt_form(form, lambda: services.update_customer(
            actor=request.user, customer=row, **form.cleaned_data)):
        messages.success(request, _("Saved."))
        return redirect("people:customers")
    return render(request, "engagements/customer.html", {"form": form, "customer": row})


@require_http_methods(["GET", "POST"])
def password(request):
    """One's own password; this sign-in stays, all others end."""
    form = OwnPasswordForm(request, request.POST or None)
    if form.is_valid():
        person = attempt_form(form, lambda: services.change_password(
            actor=request.user, password=form.cleaned_data["new_password1"]))
        if person:
            update_session_auth_hash(request, person)
            messages.success(request, _("Your password is changed; other devices are signed out."))
            return redirect("portal:home")
    return render(request, "engagements/password.html", {"form": form})
