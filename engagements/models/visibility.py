"""Which engagements' rows a user sees, as a condition that any table's query can hold."""

from django.apps import apps
from django.db.models import BigAutoField, ForeignKey, Q
from django.db.models.fields.related_lookups import RelatedIn
from django.db.models.lookups import In


class _SubqueryFirst:
    """As `in`, for a subquery of few keys.

    PostgreSQL asks the subquery first and then an index with its keys; of `in` it makes a join, or
    beside an `or` a filter, and reads the whole table.
    """

    lookup_name = "among"

    def as_postgresql(self, compiler, connection):
        sql, params = super().as_sql(compiler, connection)
        column, keys = sql.split(" IN ", 1)
        return f"{column} = ANY(ARRAY{keys})", params


@ForeignKey.register_lookup
class Among(_SubqueryFirst, RelatedIn):
    """Of a reference."""


@BigAutoField.register_lookup
class AmongKeys(_SubqueryFirst, In):
    """Of a row's own key."""


def in_engagements_of(user, path: str = "engagement", *, or_none: bool = False) -> Q:
    """Rows of the engagements that `visible_to(user)` has; no condition for who sees them all.

    Args:
        path: the columns that lead from the row to its engagement.
        or_none: also rows of no engagement; whoever sees all engagements sees these anyway.
    """
    if not user.is_authenticated:
        return Q(pk__in=[])
    if user.sees_every_engagement:
        return Q()
    engagements = apps.get_model("engagements", "Engagement").objects
    mine = Q(**{f"{path}__among": engagements.keys_visible_to(user)})
    return mine | Q(**{f"{path}__isnull": True}) if or_none else mine
