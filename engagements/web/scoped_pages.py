"""Pages of lists that one person sees a small part of: read by engagement, not filtered.

`visible_to` restricts a list to some engagements (`models.visibility.Among`). A database that
walks the list's order and leaves out other engagements' rows reads a hundred rows for each that it
shows. Here it is asked for the end of each visible engagement's rows, which an index of engagement
and key answers, and merges these; only engagements that can still contribute are read.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import connections
from django.db.models import Field, QuerySet
from django.db.models.expressions import Col, RawSQL
from django.db.models.lookups import Exact, IsNull, Lookup
from django.db.models.sql.where import OR, WhereNode

from engagements.models.visibility import Among

# The ends of the engagements' rows, nearest first, then one engagement after the other: `keys` are
# the first `most` so far, and of the next engagement only what comes before the last of them is
# read. It stops at an engagement whose own first row comes after all of them.
MERGE = """
WITH RECURSIVE ends AS MATERIALIZED (
    SELECT row_number() OVER (ORDER BY first {way}) AS place, whose, first FROM (
        SELECT mine.key AS whose, ({first}) AS first FROM ({mine}) AS mine(key)
    ) AS every WHERE first IS NOT NULL
), merged(place, keys) AS (
    SELECT 0::bigint, ARRAY({of_none})::bigint[]
    UNION ALL
    SELECT ends.place, ARRAY(
        SELECT key FROM (SELECT unnest(merged.keys) AS key UNION ALL ({next})) AS both_of
        ORDER BY key {way} LIMIT {most})
    FROM merged JOIN ends ON ends.place = merged.place + 1
    WHERE merged.keys[{most}] IS NULL OR merged.keys[{most}] {after} ends.first
)
SELECT unnest(keys[{begin}:{most}]) FROM (
    SELECT keys FROM merged ORDER BY place DESC LIMIT 1) AS done
"""
# The first of an engagement's rows that pass the filters lies this many times farther from the end
# than if they were spread evenly: rows of one kind were written together.
UNEVEN = 2
REMEMBERED_SECONDS, MOST_REMEMBERED = 600, 5000
MOST_NAMED = 1000  # engagements that a statement names
FARTHEST = {"DESC": "-1", "ASC": "9223372036854775807"}


@dataclass(frozen=True)
class Scope:
    """Which engagements' rows a queryset is restricted to.

    `position` is that of the condition in its WHERE, `path` leads from a row to the engagement's
    key.
    """

    position: int
    among: Among
    path: str
    or_none: bool = False


def scope_of(rows: QuerySet) -> Scope | None:
    """The scope that `visible_to` has set; None where there is none, or more than one."""
    found = [scope for position, node in enumerate(rows.query.where.children)
             if (scope := _scope(rows, position, node)) is not None]
    is_simple = rows.query.where.connector != OR and not rows.query.where.negated
    return found[0] if len(found) == 1 and is_simple else None


def _scope(rows: QuerySet, position: int, node: Lookup | WhereNode) -> Scope | None:
    if isinstance(node, Among) and isinstance(node.lhs, Col):
        return Scope(position, node, _path(rows, node.lhs))
    if not isinstance(node, WhereNode) or node.connector != OR or node.negated:
        return None
    among = [one for one in node.children if isinstance(one, Among) and isinstance(one.lhs, Col)]
    none = [one for one in node.children if isinstance(one, IsNull) and one.rhs is True
            and isinstance(one.lhs, Col)]
    if len(node.children) != 2 or not among or not none or among[0].lhs != none[0].lhs:
        return None
    return Scope(position, among[0], _path(rows, among[0].lhs), or_none=True)


def _path(rows: QuerySet, column: Col) -> str:
    """`plan__engagement_id`, of the joins that lead to the column."""
    parts, alias = [column.target.attname], column.alias
    while (join := rows.query.alias_map.get(alias)) and join.parent_alias:
        parts.insert(0, join.join_field.name)
        alias = join.parent_alias
    return "__".join(parts)


def without_scope(rows: QuerySet) -> QuerySet:
    """The same rows of all engagements, for a condition that names rows of the scope."""
    scope = scope_of(rows)
    return without(rows, scope) if scope else rows


def with_keys(rows: QuerySet) -> QuerySet:
    """The same rows; of a scope over other tables the engagements are asked for first and named.
    How many a subquery will find the planner does not know, and then reads all their rows."""
    scope = scope_of(rows)
    if scope is None or scope.or_none or "__" not in scope.path:
        return rows
    found = scope.among.rhs.get_compiler(rows.db).results_iter(tuple_expected=True)
    keys = [key for (key,) in islice(found, MOST_NAMED + 1)]
    if len(keys) > MOST_NAMED:
        return rows
    return without(rows, scope).filter(**{f"{scope.path}__in": keys})


def without(rows: QuerySet, scope: Scope) -> QuerySet:
    """The same rows of all engagements."""
    wider = rows.all()
    del wider.query.where.children[scope.position]
    return wider


def page_by_engagement(rows: QuerySet, order: list[str], bottom: int, top: int,
                       count: int | None = None) -> QuerySet | None:
    """The rows from `bottom` to `top`, read by engagement.

    Args:
        order: the names that the list is sorted by.
        count: how many rows there are, if it is known.

    Returns:
        None where the list has no such scope, goes by more than its key, has too few rows per
        engagement, or where the database has no arrays: it is then sliced as any other.
    """
    scope = scope_of(rows)
    key = rows.model._meta.pk
    is_by_key = len(order) == 1 and order[0].lstrip("-") in ("pk", key.name)
    query = rows.query
    if (scope is None or not is_by_key or "__" in scope.path or query.distinct
            or query.combinator or query.group_by is not None
            or connections[rows.db].vendor != "postgresql"
            or not _is_cheaper(rows, scope, top - bottom, count)):
        return None
    wider = without(rows, scope)
    sql, params = _merge(wider, scope, is_backward=order[0].startswith("-"),
                         bottom=bottom, top=top)
    return wider.filter(pk__in=RawSQL(sql, params, output_field=key))


def _is_cheaper(rows: QuerySet, scope: Scope, shown: int, count: int | None) -> bool:
    """Whether the ends of the engagements are found with fewer rows than a walk of the list's order
    would read: where few rows of an engagement pass the filters, and no index has these beside
    the engagement, most of them are looked at in vain."""
    if count is not None and count <= shown:
        return False  # all rows are read in any order
    if _has_index(rows, scope):
        return True
    theirs, all_of_them = (
        scope.among.lhs.target.related_model._meta.db_table, rows.model._meta.db_table)
    total, row_count = _remembered(("sizes", theirs, all_of_them),
                                   lambda: _sizes(rows.db, theirs, all_of_them))
    mine = QuerySet(scope.among.rhs.model, query=scope.among.rhs.clone())
    engagements = _remembered(("mine", str(mine.query)), mine.count)
    if min(total, row_count) < 1 or not engagements:
        return True
    each = row_count / total
    found = each if count is None else count / engagements
    return engagements * each * min(1, UNEVEN / (1 + found)) <= shown * total / engagements


def _has_index(rows: QuerySet, scope: Scope) -> bool:
    """Whether an index leads with the engagement and a column that is asked for one value."""
    table = rows.query.get_initial_alias()
    asked = {node.lhs.target.name for node in rows.query.where.children
             if isinstance(node, Exact) and isinstance(node.lhs, Col) and node.lhs.alias == table}
    return any(index.fields[0] == scope.path.removesuffix("_id") and index.fields[1] in asked
               for index in rows.model._meta.indexes if len(index.fields) > 1)


def _sizes(using: str, *tables: str) -> tuple[float, ...]:
    """Rows of these tables, as the planner knows them."""
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT relname, reltuples FROM pg_class WHERE relname = ANY(%s)",
                       [list(tables)])
        found = dict(cursor.fetchall())
    return tuple(found.get(table, 0) for table in tables)


_memory: dict[tuple, tuple[float, Any]] = {}


def _remembered(key: tuple, ask: Callable[[], Any]) -> Any:
    """An estimate, asked for again after REMEMBERED_SECONDS."""
    if (found := _memory.get(key)) and time.monotonic() - found[0] < REMEMBERED_SECONDS:
        return found[1]
    if len(_memory) >= MOST_REMEMBERED:
        _memory.clear()
    _memory[key] = time.monotonic(), (value := ask())
    return value


def _merge(wider: QuerySet, scope: Scope, *, is_backward: bool, bottom: int, top: int
           ) -> tuple[str, list]:
    """The statement of the keys, and what is bound to it. All that is written into its text are
    numbers and statements of Django's own."""
    way, word = ("DESC", "gt") if is_backward else ("ASC", "lt")
    each = wider.order_by("-pk" if is_backward else "pk").values("pk")
    place = QuerySet(scope.among.rhs.model, query=scope.among.rhs.clone())
    bound = _column(f"coalesce(merged.keys[{top}], {FARTHEST[way]})")
    first, first_params = _text(each.filter(**{scope.path: _column("mine.key")})[:1])
    mine, mine_params = _text(place)
    none, none_params = _text(each.filter(**{f"{scope.path}__isnull": True})[:top]
                              ) if scope.or_none else ("", ())
    then, then_params = _text(each.filter(**{
        scope.path: _column("ends.whose"), f"pk__{word}": bound})[:top])
    sql = MERGE.format(
        way=way, first=first, mine=mine, of_none=none or "SELECT 1 WHERE false", next=then,
        most=top, begin=bottom + 1, after="<" if is_backward else ">")
    return sql, [*first_params, *mine_params, *none_params, *then_params]


def _column(text: str) -> RawSQL:
    return RawSQL(text, (), output_field=Field())


def _text(rows: QuerySet) -> tuple[str, tuple]:
    return rows.query.get_compiler(rows.db).as_sql()


def first_rows(rows: QuerySet, most: int) -> QuerySet:
    """The first rows of a list by key, read by engagement where that is possible."""
    names = list(rows.query.order_by or rows.model._meta.ordering)
    merged = page_by_engagement(rows, names, 0, most)
    return rows[:most] if merged is None else merged
