"""Filters of the API's lists: one that does not exist is refused, not ignored."""

from django.utils.translation import gettext as _
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.exceptions import ValidationError

from engagements.text.text_joining import listed

ALWAYS = frozenset({"page", "page_size", "after", "format"})


class StrictFilterBackend(DjangoFilterBackend):
    """400 for a parameter that a list does not know: ignored, it would look like a filter.

    A view whose list reads further parameters names them in `query_parameters`.
    """

    def filter_queryset(self, request, queryset, view):
        if getattr(view, "action", "") == "list":
            known = self._known(request, queryset, view)
            if unknown := sorted(set(request.query_params) - known):
                raise ValidationError({name: [_(
                    "There is no filter “%(name)s”; there are: %(known)s.") % {
                        "name": name, "known": listed(sorted(known - ALWAYS)) or "–"}]
                    for name in unknown})
        return super().filter_queryset(request, queryset, view)

    def _known(self, request, queryset, view) -> frozenset[str]:
        filters = self.get_filterset(request, queryset, view)
        return ALWAYS | frozenset(filters.filters if filters else ()) | frozenset(
            getattr(view, "query_parameters", ()))
