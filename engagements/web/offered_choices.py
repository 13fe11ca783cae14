"""What a filter offers of a long list: the first rows; anything else is typed."""

from django.db.models import QuerySet

MOST_OFFERED = 50


def offered(rows: QuerySet) -> QuerySet:
    """The first rows of a list that a field suggests while somebody types."""
    return rows[:MOST_OFFERED]
