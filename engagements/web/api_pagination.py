"""Pages of the API's lists: windows of pages with numbers, links that lead through all of them."""

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response
from rest_framework.utils.urls import remove_query_param, replace_query_param

from engagements.web.paging import MOST_COUNTED, Ordering, WindowPaginator
from engagements.web.scoped_pages import scope_of


class WindowPagination(PageNumberPagination):
    """`next` leads on to the last row. `count` stops at MOST_COUNTED; `is_count_exact` says so."""

    page_size_query_param = "page_size"
    max_page_size = 200

    def get_page_size(self, request) -> int:
        """Raises ValidationError for a size that is no positive number; larger ones are cut."""
        asked = request.query_params.get(self.page_size_query_param, "")
        if asked and not (asked.isascii() and asked.isdigit() and int(asked)):
            raise ValidationError({self.page_size_query_param: [_("Enter a whole number.")]})
        return super().get_page_size(request)

    def get_schema_operation_parameters(self, view) -> list[dict]:
        described = super().get_schema_operation_parameters(view)
        for parameter in described:
            parameter["schema"]["minimum"] = 1
        return described

    def django_paginator_class(self, rows, page_size):
        """Of querysets; other sequences are there already and keep Django's paginator."""
        if isinstance(rows, QuerySet):
            return WindowPaginator(rows, page_size, self.request.query_params.get("after", ""))
        return super().django_paginator_class(rows, page_size)

    def paginate_queryset(self, queryset, request, view=None):
        self.request = request
        if isinstance(queryset, QuerySet) and not queryset.query.order_by:
            queryset = queryset.order_by(*self._key_order(queryset))
        return super().paginate_queryset(queryset, request, view)

    def _key_order(self, rows: QuerySet) -> list[str]:
        """A table's own order serves one engagement; its whole list goes by key, the newest first
        where the table says so.

        What a person sees of some engagements goes by engagement, the newest first, where
        they hang on another table's rows, or where the age of a row says nothing.
        """
        first = next(iter(rows.model._meta.ordering), "pk")
        key = "-pk" if str(first).startswith("-") else "pk"
        scope = scope_of(rows)
        if scope and ("__" in scope.path or key == "pk"):
            order = [f"-{scope.path}", key]
            if Ordering(rows.order_by(*order)).is_total:
                return order
        return [key]

    def get_next_link(self) -> str | None:
        """The next page, or the first of the next window."""
        if self.page.has_next() or not getattr(self.page, "after", ""):
            return super().get_next_link()
        url = remove_query_param(self.request.build_absolute_uri(), self.page_query_param)
        return replace_query_param(url, "after", self.page.after)

    def get_paginated_response(self, data) -> Response:
        total = getattr(self.page.paginator, "total", self.page.paginator.count)
        return Response({
            "count": min(total, MOST_COUNTED), "is_count_exact": total <= MOST_COUNTED,
            "next": self.get_next_link(), "previous": self.get_previous_link(), "results": data})

    def get_paginated_response_schema(self, schema: dict) -> dict:
        described = super().get_paginated_response_schema(schema)
        described["properties"]["count"]["description"] = (
            f"Rows of the list; counting stops at {MOST_COUNTED}.")
        described["properties"]["is_count_exact"] = {"type": "boolean", "example": True}
        described["required"] = [*described.get("required", []), "is_count_exact"]
        return described


class FewPerPage(WindowPagination):
    """Of rows that hold many others."""

    page_size = 10
