"""Filters of the API's lists: one that does not exist is refused, not ignored."""

from collections.abc import Iterable

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.exceptions import ValidationError
from rest_framework.mixins import ListModelMixin

from engagements.text.printable_text import refused_character
from engagements.text.text_joining import listed
from engagements.web.list_filters import common_filters

FORMAT = frozenset({"format"})
PAGES = frozenset({"page", "page_size", "after"})  # of lists that come in pages


class StrictFilterBackend(DjangoFilterBackend):
    """400 for a parameter that a list does not know: ignored, it would look like a filter.

    A view whose list reads further parameters names them in `query_parameters`.
    """

    def filter_queryset(self, request, queryset, view):
        if getattr(view, "action", "") == "list":
            refuse_unknown(request, PAGES | self._known(request, queryset, view))
        return super().filter_queryset(request, queryset, view)

    def get_filterset_class(self, view, queryset=None):
        """What the view declares, and of a list the filters that all of them have."""
        declared = super().get_filterset_class(view, queryset)
        is_list = getattr(view, "action", "") == "list" and isinstance(view, ListModelMixin)
        if not (is_list and isinstance(queryset, QuerySet)):
            return declared
        table, base = queryset.model, declared or self.filterset_base
        known = {name: each for name, each in common_filters(table, base).items()
                 if name not in base.declared_filters}
        meta = getattr(base, "Meta", None) or type("Meta", (), {"model": table, "fields": []})
        return type("ListFilters", (base,), {**known, "Meta": meta})

    def _known(self, request, queryset, view) -> frozenset[str]:
        filters = self.get_filterset(request, queryset, view)
        return frozenset(filters.filters if filters else ()) | frozenset(
            getattr(view, "query_parameters", ()))


class KnownParameters:
    # Mixed into viewsets: what a computed list or an action without a row does not read is refused.

    query_parameters: Iterable[str] = ()  # what it reads; actions may name others

    def initial(self, request, *args, **kwargs):
        """Before the endpoint itself; rows that are filtered have `StrictFilterBackend`."""
        super().initial(request, *args, **kwargs)
        action = getattr(self, "action", None)
        is_filtered = action == "list" and isinstance(self, ListModelMixin)
        if request.method == "GET" and action and not (self.detail or is_filtered):
            refuse_unknown(request, frozenset(self.query_parameters))


def refuse_unknown(request, known: frozenset[str]) -> None:
    """Raises ValidationError for each parameter of the query that is not among the known ones, or
    whose value holds an unprintable character."""
    asked = request.query_params
    if unknown := sorted(set(asked) - known - FORMAT):
        raise ValidationError({name: [_(
            "There is no filter “%(name)s”; available: %(known)s.") % {
                "name": name, "known": listed(sorted(known - PAGES)) or "–"}]
            for name in unknown})
    if refused := {name: [sentence] for name, value in asked.items()
                   if (sentence := refused_character(value))}:
        raise ValidationError(refused, "unprintable")
