"""Pages that write one row of an engagement by one service; they differ in attributes only.

What needs more than these attributes is a plain function.
"""

from collections.abc import Callable
from typing import Any

from django.db import models
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views import View
from rest_framework import serializers

from engagements.access import Can, require
from engagements.errors import InvalidInput
from engagements.models import Engagement
from engagements.navigation import tab_of
from engagements.text.text_joining import in_turn
from engagements.web.form_actions import attempt, attempt_form
from engagements.web.row_form import RowForm, written


def visible_engagement(request: HttpRequest, code: str) -> Engagement:
    """The engagement of that code with its customer; 404 for a stranger."""
    return get_object_or_404(
        Engagement.objects.visible_to(request.user).select_related("customer"), code=code)


def internal_engagement(request: HttpRequest, code: str) -> Engagement:
    """The same for the firm's people; 403 for the customer's."""
    engagement = visible_engagement(request, code)
    require(request.user, Can.VIEW_INTERNAL, engagement)
    return engagement


def visible_row(request: HttpRequest, model: type[models.Model], pk: int) -> Any:
    """The row with that key and its engagement; 404 for whoever does not see it."""
    return get_object_or_404(model._default_manager.visible_to(request.user).select_related(
        "engagement"), pk=pk)


def form_page(request: HttpRequest, form, engagement: Engagement, *, tab: str, title: str,
              submit: str, back: str = "") -> HttpResponse:
    """A form on a page of its own, under one of the engagement's tabs.

    Args:
        tab: its key.
        back: address of the page that cancelling leads to; the tab's where there is none.
    """
    found = tab_of(tab)
    return render(request, "components/form_page.html", {
        "form": form, "engagement": engagement, "title": title, "section": found.title,
        "cancel_url": back or reverse(found.route, args=[engagement.code]), "active": tab,
        "submit_label": submit})


def posted(request: HttpRequest, takes: type[serializers.Serializer] | None) -> dict[str, Any]:
    """The texts that a button's form sent, in the bounds of the serializer that the API takes.

    A text that was left out is empty: what is needed is said by the service. Raises InvalidInput
    with the serializer's sentence.
    """
    inputs = written(takes) if takes else {}
    if not inputs:
        return {}
    given = takes(data={name: text for name in inputs if (text := request.POST.get(name))},
                  partial=True, context={"request": request})
    if not given.is_valid():
        raise InvalidInput(in_turn(
            str(sentence) for faults in given.errors.values() for sentence in faults))
    return {**dict.fromkeys(inputs, ""), **given.validated_data}


class RowView(View):
    """
    Attributes:
        tab: key of the engagement's tab that the page belongs to, and leads back to.
        page: route of the row's own page, which follows instead of the tab; none for most.
        service: takes `actor` and what the subclass says, by keyword.
    """

    http_method_names = ("get", "post")
    tab = ""
    page = ""
    service: Callable[..., Any] | None = None

    def place(self, engagement: Engagement, pk: int | None = None) -> str:
        """The address that follows."""
        return (reverse(self.page, args=[pk]) if self.page and pk
                else reverse(tab_of(self.tab).route, args=[engagement.code]))


class NewRow(RowView):
    """The form of a new row; the service takes `engagement` and the form's fields."""

    form_class: type[RowForm] | None = None
    title: str | Promise = ""
    submit: str | Promise = _("Save")
    can = Can.WORK

    def get(self, request, code):
        find = internal_engagement if tab_of(self.tab).is_internal else visible_engagement
        engagement = find(request, code)
        require(request.user, self.can, engagement)
        form = self.form_class(request.POST or None, of=engagement)
        if form.is_valid():
            made = attempt_form(form, lambda: self.service(
                actor=request.user, engagement=engagement, **form.cleaned_data))
            if made:
                return redirect(self.place(engagement, made.pk))
        return form_page(request, form, engagement, tab=self.tab, title=self.title,
                         submit=self.submit)

    post = get


class EditRow(RowView):
    """The form of a row; the service takes it as `row_name`, and the form's fields."""

    form_class: type[RowForm] | None = None
    row_name = ""
    submit: str | Promise = _("Save")
    can = Can.WORK

    def get(self, request, pk):
        row = visible_row(request, self.form_class.serializer_class.Meta.model, pk)
        require(request.user, self.can, row.engagement)
        form = self.form_class(request.POST or None, of=row.engagement, instance=row)
        place = self.place(row.engagement, pk)
        if form.is_valid() and attempt_form(form, lambda: self.service(
                actor=request.user, **{self.row_name: row}, **form.cleaned_data)):
            return redirect(place)
        return form_page(request, form, row.engagement, tab=self.tab, title=str(row),
                         submit=self.submit, back=place)

    post = get


class MoveRow(RowView):
    """A button; the service takes the row as `row_name`, and the texts that `takes` declares."""

    http_method_names = ("post",)
    model: type[models.Model] | None = None
    row_name = ""
    takes: type[serializers.Serializer] | None = None
    success: str | Promise = ""

    def post(self, request, pk):
        row = visible_row(request, self.model, pk)
        attempt(request, lambda: self.service(
            actor=request.user, **{self.row_name: row}, **posted(request, self.takes)),
                self.success)
        return redirect(self.place(row.engagement, pk))
