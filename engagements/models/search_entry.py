from django.db import models

from engagements.models.engagement import Engagement
from engagements.models.visibility import in_engagements_of


class WordsField(models.TextField):
    """Words separated by single spaces, with an index for the lookup `holds`.

    The index is made by `engagements.search_index`.
    """


@WordsField.register_lookup
class Holds(models.Lookup):
    """Rows that hold every word of a list; a word that ends in `*` holds for its beginnings."""

    lookup_name = "holds"
    prepare_rhs = False

    def as_postgresql(self, compiler, connection):
        column, _params = self.process_lhs(compiler, connection)
        asked = " & ".join(f"'{word[:-1]}':*" if word.endswith("*") else f"'{word}'"
                           for word in self.rhs)
        return f"array_to_tsvector(string_to_array({column}, ' ')) @@ %s::tsquery", [asked]

    def as_sqlite(self, compiler, connection):
        column, _params = self.process_lhs(compiler, connection)
        key = f'{column.rpartition(".")[0]}."id"'
        asked = " AND ".join(f'"{word[:-1]}"*' if word.endswith("*") else f'"{word}"'
                             for word in self.rhs)
        return (f"{key} IN (SELECT rowid FROM engagements_searchwords "
                "WHERE engagements_searchwords MATCH %s)"), [asked]


class SearchEntryQuerySet(models.QuerySet):
    def visible_to(self, user) -> "SearchEntryQuerySet":
        """Of the engagements that the user may see, and of what belongs to none."""
        return self.filter(in_engagements_of(user, or_none=True))


class SearchEntry(models.Model):
    """The words by which the search box finds one row; made by `engagements.search_index`."""

    table = models.CharField(max_length=60)
    key = models.BigIntegerField()
    engagement = models.ForeignKey(Engagement, models.CASCADE, null=True, related_name="+")
    words = WordsField()

    objects = SearchEntryQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "search entries"
        constraints = [models.UniqueConstraint(fields=["table", "key"],
                                               name="one_search_entry_per_row")]

    def __str__(self) -> str:
        return f"{self.table} {self.key}"
