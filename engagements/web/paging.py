"""Pages of long lists: none costs more for standing far back, no count walks a whole table.

A list is a row of windows of PAGES pages. Inside a window pages have numbers (`page=2`); behind
its last page the list goes on after a row (`after=…`, the ordering values of the row as JSON).
Counts stop at MOST_COUNTED.
"""

import json
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.core.paginator import Page, Paginator
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Q, QuerySet
from django.utils.functional import cached_property

from engagements.web.scoped_pages import page_by_engagement, scope_of, with_keys, without_scope

MOST_COUNTED = 10_000
PAGES = 20  # of a window; the database walks over the rows of those before
LONGEST_CURSOR = 600  # characters


def page_of(rows: QuerySet, params: Mapping[str, str], per_page: int, pages: int | None = None,
            total: int | None = None) -> Page:
    """The page that the query string asks for (`page`, `after`); the nearest for nonsense.

    Args:
        pages: of a window, where it is not PAGES: one for a filter that no index answers in the
            list's order, so that the database walks over the rows of one page only.
        total: how many rows there are, at most MOST_COUNTED + 1, where that is known.
    """
    return WindowPaginator(rows, per_page, params.get("after", ""), pages=pages,
                           total=total).get_page(params.get("page"))


def counted(rows: QuerySet, most: int = MOST_COUNTED) -> int:
    """How many rows, at most `most` + 1."""
    return rows.order_by().values("pk")[:most + 1].count()


def count_text(count: int, most: int = MOST_COUNTED) -> str:
    """The count for people: "10,000+" where counting stopped."""
    return f"{most:,}+" if count > most else str(count)


class WindowPage(Page):
    """A page; `after` names its last row where the list goes on behind the window."""

    @cached_property
    def after(self) -> str:
        goes_on = self.number == self.paginator.num_pages and self.paginator.goes_on
        return self.paginator.ordering.cursor(list(self)[-1]) if goes_on and len(self) else ""


class WindowPaginator(Paginator):
    """Django's paginator over one window of a queryset.

    A queryset whose ordering has columns that may be empty has one window without an end.
    """

    def __init__(self, rows: QuerySet, per_page: int, after: str = "",
                 pages: int | None = None, total: int | None = None, **options) -> None:
        self.whole, self.ordering, self.pages = rows, Ordering(rows), pages or PAGES
        self.known = total
        self.is_anchored = bool(after) and self.ordering.is_total
        rows = self.ordering.behind(rows, after) if self.is_anchored else self.ordering.sorted(rows)
        super().__init__(rows, per_page, **options)

    @cached_property
    def count(self) -> int:
        """Rows of this window."""
        return min(self._seen, self.window) if self.ordering.is_total else self._seen

    @cached_property
    def window(self) -> int:
        """Rows of a window."""
        return self.pages * self.per_page

    @cached_property
    def goes_on(self) -> bool:
        return self.ordering.is_total and self._seen > self.window

    @cached_property
    def _seen(self) -> int:
        """Rows from the beginning of the window, counted to MOST_COUNTED; without a window all."""
        if not self.ordering.is_total:
            return self.object_list.order_by().values("pk").count()
        return counted(self.object_list) if self.is_anchored else self.total

    @cached_property
    def total(self) -> int:
        """Rows of the whole list, at most MOST_COUNTED + 1."""
        if not self.ordering.is_total:
            return self._seen
        return counted(self.whole) if self.known is None else self.known

    @property
    def total_text(self) -> str:
        return count_text(self.total)

    def page(self, number: int | str) -> WindowPage:
        """Keys are looked up alone where rows before the page have to be walked over, or where
        something is computed for each row: these cost no joins, and only what is shown is
        computed."""
        number = self.validate_number(number)
        bottom, top = (number - 1) * self.per_page, min(number * self.per_page, self.count)
        return self._get_page(self._rows(bottom, top), number, self)

    def _rows(self, bottom: int, top: int) -> QuerySet:
        if self.ordering.is_total and top > bottom:
            merged = page_by_engagement(self.object_list, self.ordering.names, bottom, top,
                                        self._seen)
            if merged is not None:
                return merged
        rows = with_keys(self.object_list) if self.ordering.is_total and top > bottom else (
            self.object_list)
        if not bottom and not self.object_list.query.annotation_select:
            return rows[bottom:top]
        return without_scope(self.object_list).filter(pk__in=rows.values("pk")[bottom:top])

    def _get_page(self, *args, **options) -> WindowPage:
        return WindowPage(*args, **options)


class Ordering:
    """The columns that a queryset is sorted by, ended by its key so that no two rows are equal."""

    def __init__(self, rows: QuerySet) -> None:
        asked = rows.query.order_by or (rows.query.default_ordering and rows.model._meta.ordering)
        self.model, scope = rows.model, scope_of(rows)
        self.never_empty = scope.path if scope and not scope.or_none else ""
        self.names = [name for name in asked or () if isinstance(name, str)]
        plain = [name.lstrip("-") for name in self.names]
        if not {"pk", self.model._meta.pk.name} & set(plain):
            self.names.append("pk")
        fields = [self._field(rows, name.lstrip("-")) for name in self.names]
        self.is_total = None not in fields and len(plain) == len(asked or ())
        self.fields = fields

    def _field(self, rows: QuerySet, name: str) -> models.Field | None:
        """The column, or that of a row it refers to; None where it may be empty."""
        model, field = self.model, None
        for part in name.split("__"):
            field = model._meta.pk if part == "pk" else next(
                (one for one in model._meta.concrete_fields if part in (one.name, one.attname)),
                None)
            if field is None or (field.null and name != self.never_empty):
                return None
            model = field.related_model or model
        return None if field.is_relation and field.related_model._meta.ordering and (
            name == field.name) else field

    def sorted(self, rows: QuerySet) -> QuerySet:
        return rows.order_by(*self.names) if self.is_total else rows

    def cursor(self, row: models.Model) -> str:
        """The ordering values of a row."""
        return json.dumps([_value(row, name.lstrip("-")) for name in self.names],
                          cls=_Encoder, ensure_ascii=False, separators=(",", ":"))

    def behind(self, rows: QuerySet, cursor: str) -> QuerySet:
        """The rows behind that of a cursor; all rows for a cursor that is none."""
        values = self._parsed(cursor)
        return self.sorted(rows.filter(self._condition(values)) if values else rows)

    def _parsed(self, cursor: str) -> list[Any]:
        try:
            values = json.loads(cursor[:LONGEST_CURSOR])
            if (not isinstance(values, list) or len(values) != len(self.fields) or None in values
                    or any("\0" in str(value) for value in values)):
                return []
            return [field.target_field.to_python(value) if field.is_relation
                    else field.to_python(value)
                    for field, value in zip(self.fields, values, strict=True)]
        except (ValueError, TypeError, ValidationError, OverflowError, RecursionError):
            return []

    def _condition(self, values: list[Any]) -> Q:
        """Later in the ordering; the bound of the first column alone lets an index be used."""
        behind, same = Q(), Q()
        for number, (name, value) in enumerate(zip(self.names, values, strict=True)):
            plain, word = name.lstrip("-"), "lt" if name.startswith("-") else "gt"
            behind |= same & Q(**{f"{plain}__{word}": value})
            if number == 0:
                bound = Q(**{f"{plain}__{word}e": value})
            same &= Q(**{plain: value})
        return bound & behind


class _Encoder(DjangoJSONEncoder):
    def default(self, value):
        # Its own form of a moment has milliseconds only.
        return value.isoformat() if hasattr(value, "isoformat") else super().default(value)


def _value(row: models.Model, path: str) -> Any:
    for part in path.split("__"):
        row = getattr(row, part)
    return row.pk if isinstance(row, models.Model) else row
