"""Filters of the API's lists: one that does not exist is refused, not ignored."""

from collections.abc import Iterable

from django.utils.translation import gettext as _
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.exceptions import ValidationError
from rest_framework.mixins import ListModelMixin

from engagements.text.text_joining import listed

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
    """Raises ValidationError for each parameter of the query that is not among the known ones."""
    if unknown := sorted(set(request.query_params) - known - FORMAT):
        raise ValidationError({name: [_(
            "There is no filter “%(name)s”; available: %(known)s.") % {
                "name": name, "known": listed(sorted(known - PAGES)) or "–"}]
            for name in unknown})
