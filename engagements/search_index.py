"""The index of the words by which the search box finds rows: any part of a word in letters, any two
Chinese characters. `delivery.followers` says which rows, and keeps it with every write of them."""

import contextlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from django.db import (
    DEFAULT_DB_ALIAS,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    connections,
    models,
    transaction,
)
from django.db.models.sql import Query

from engagements.models import Engagement, SearchEntry, User

BATCH = 500
MOST_NAMED = 500  # keys that a statement names
RUNS = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]+|[^\W_]+?(?=[\u3400-\u9fff\uf900-\ufaff]|[\W_]|$)")
CHINESE = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
LONGEST = 24  # characters of a word that are kept
MOST = 400  # words of one row
OF_ENGAGEMENT = ("code", "name", "name_en", "contract_number", "customer__name",
                 "customer__name_en")
# What the databases need to find words quickly: made after every `migrate`, where it is missing.
# PostgreSQL: an index over the words as lexemes; over the labels of the audit log one by trigrams,
# where the extension is there or the database's owner may install it (else its text filter walks).
# SQLite: an FTS5 table over the words of SearchEntry, kept by triggers (which are gone when a
# migration makes the table anew).
POSTGRESQL = ("""CREATE INDEX IF NOT EXISTS search_entry_words ON engagements_searchentry
    USING gin (array_to_tsvector(string_to_array(words, ' ')))""",)
TRIGRAMS = ("CREATE EXTENSION IF NOT EXISTS pg_trgm",
            """CREATE INDEX IF NOT EXISTS audit_labels_by_trigram ON engagements_auditentry
    USING gin (UPPER(target_label::text) gin_trgm_ops)""")
SQLITE = (
    """CREATE VIRTUAL TABLE IF NOT EXISTS engagements_searchwords USING fts5(words,
    content='engagements_searchentry', content_rowid='id',
    tokenize="unicode61 remove_diacritics 0", prefix='1 2 3')""",
    """CREATE TRIGGER IF NOT EXISTS searchentry_added AFTER INSERT ON engagements_searchentry
    BEGIN INSERT INTO engagements_searchwords(rowid, words) VALUES (new.id, new.words); END""",
    """CREATE TRIGGER IF NOT EXISTS searchentry_removed AFTER DELETE ON engagements_searchentry
    BEGIN INSERT INTO engagements_searchwords(engagements_searchwords, rowid, words)
    VALUES ('delete', old.id, old.words); END""",
    """CREATE TRIGGER IF NOT EXISTS searchentry_changed AFTER UPDATE ON engagements_searchentry
    BEGIN INSERT INTO engagements_searchwords(engagements_searchwords, rowid, words)
    VALUES ('delete', old.id, old.words);
    INSERT INTO engagements_searchwords(rowid, words) VALUES (new.id, new.words); END""",
)


def of_engagement(*columns: str) -> tuple[str, ...]:
    """Paths from a row to columns of its engagement; without names to all that it is found by."""
    return tuple(f"engagement__{column}" for column in columns or OF_ENGAGEMENT)


@dataclass(frozen=True)
class Indexed:
    """A table: the columns whose texts find its rows, and the path to their engagement."""

    table: type[models.Model]
    columns: tuple[str, ...]
    engagement: str | None
    more: Callable[[models.Model], list[str]] = lambda _row: []

    @property
    def label(self) -> str:
        return self.table._meta.label_lower

    def entries(self, keys: Collection) -> Iterator[SearchEntry]:
        paths = {column.rpartition("__")[0] for column in self.columns} - {""}
        rows = models.QuerySet(self.table).filter(pk__in=keys).select_related(*sorted(paths))
        long_columns = [field.name for field in self.table._meta.concrete_fields
                        if isinstance(field, models.JSONField)]
        for row in rows.defer(*long_columns):
            texts = [_text(row, column) for column in self.columns]
            key = None if self.engagement is None else row.pk if self.engagement == "pk" else (
                getattr(row, f"{self.engagement}_id"))
            yield SearchEntry(
                table=self.label, key=row.pk, engagement_id=key,
                words=" ".join([token_of(self.table), *words_of([*texts, *self.more(row)])]))


def _text(row: models.Model, path: str) -> str:
    for part in path.split("__"):
        row = getattr(row, part)
    return str(row or "")


TABLES: dict[type[models.Model], Indexed] = {}


def register(indexed: Indexed) -> None:
    """Have the rows of a table found by words from now on; call it when Django starts, and
    `refresh` after every write of them."""
    TABLES[indexed.table] = indexed


def holding(table: type[models.Model], text: str, user: User | None = None
            ) -> models.QuerySet | list[int]:
    """Keys of the table's rows in which every word of the text is found: the keys themselves where
    they are few, else a subquery.

    Args:
        user: whose rows they are filtered for; keys of others are then left out as far as that
            makes them few.
    """
    entries = entries_holding(table, text)
    entries = entries.visible_to(user) if user else entries
    keys = list(entries.values_list("key", flat=True)[:MOST_NAMED + 1])
    return keys if len(keys) <= MOST_NAMED else _many_holding(table, text).values("key")


def _many_holding(table: type[models.Model], text: str) -> models.QuerySet:
    """The entries where they are many: found by their words and counted, or, on PostgreSQL, each
    looked up by its key where a list is walked in its order."""
    entries = entries_holding(table, text)
    if connections[entries.db].vendor != "postgresql":
        return entries
    # The table's own word beside the table would let the planner expect a tenth of them.
    each = SearchEntry.objects.filter(table=table._meta.label_lower).order_by().filter(
        words__holds=asked_for(text)).values("key")
    query = each.query.chain(klass=_ByUse)
    query.unordered = entries.values("key").query
    query.unordered.subquery = True
    return models.QuerySet(SearchEntry, query=query)


class _ByUse(Query):
    """A subquery that is written one way in a sorted list, and as `unordered` in a count, which
    has no order. The planner holds words for as cheap to compare as numbers: of a count, for which
    it has to read them all, it would compare each."""

    unordered: Query

    def as_sql(self, compiler, connection) -> tuple[str, tuple]:
        if compiler.query.order_by:
            return super().as_sql(compiler, connection)
        return self.unordered.as_sql(compiler, connection)


def pages_of(params: Mapping[str, str]) -> int | None:
    """Pages of a list's window (see `paging.page_of`): one where it is filtered by text `q`."""
    return 1 if params.get("q", "").strip() else None


def entries_holding(table: type[models.Model], text: str) -> models.QuerySet:
    """The entries of these rows: those with the table's own word, which stands for its name."""
    entries, asked = SearchEntry.objects.order_by(), asked_for(text)
    return entries.filter(words__holds=[token_of(table), *asked]) if asked else entries.none()


def token_of(table: type[models.Model]) -> str:
    """A word that the table's rows alone have, so that the index finds no others."""
    return f"{table._meta.model_name}tablerow"


def refresh(table: type[models.Model], keys: Collection) -> None:
    """Write the entries of these rows anew; those of rows that are gone are removed."""
    indexed = TABLES[table]
    made = list(indexed.entries(keys))
    SearchEntry.objects.bulk_create(
        made, batch_size=BATCH, update_conflicts=True, unique_fields=["table", "key"],
        update_fields=["engagement", "words"])
    if gone := set(keys) - {entry.key for entry in made}:
        SearchEntry.objects.filter(table=indexed.label, key__in=gone).delete()


def rebuild(tables: Collection[type[models.Model]] | None = None) -> int:
    """Write all entries of these tables anew, of all without, in batches of their own transaction;
    how many."""
    count = 0
    for table in TABLES if tables is None else tables:
        for keys in _batches(table):
            with transaction.atomic():
                refresh(table, keys)
            count += len(keys)
    return count


def differences() -> Iterator[tuple[str, int]]:
    """Table and key of rows whose entry is not what it would be made to be now."""
    for table, indexed in TABLES.items():
        for keys in _batches(table):
            stored = {entry.key: (entry.engagement_id, entry.words) for entry in
                      SearchEntry.objects.filter(table=indexed.label, key__in=keys)}
            for entry in indexed.entries(keys):
                if stored.get(entry.key) != (entry.engagement_id, entry.words):
                    yield indexed.label, entry.key


def _batches(table: type[models.Model]) -> Iterator[list[int]]:
    last = 0
    rows = models.QuerySet(table).order_by("pk").values_list("pk", flat=True)
    while keys := list(rows.filter(pk__gt=last)[:BATCH]):
        yield keys
        last = keys[-1]


def prepare(using: str, **_signal) -> None:
    """After `migrate`: what the database needs, and the entries of one that is older."""
    _make_storage(using)
    if using == DEFAULT_DB_ALIAS and Engagement.objects.exists():
        rebuild([table for table, indexed in TABLES.items()
                 if not SearchEntry.objects.filter(table=indexed.label).exists()])


def _make_storage(using: str) -> None:
    """Index, or table and triggers."""
    is_postgresql = connections[using].vendor == "postgresql"
    _execute(using, POSTGRESQL if is_postgresql else SQLITE)
    if is_postgresql:
        with contextlib.suppress(ProgrammingError, NotSupportedError, OperationalError):
            _execute(using, TRIGRAMS)


def _execute(using: str, statements: tuple[str, ...]) -> None:
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def refresh_rows_of_engagements(_table: type[models.Model], keys: Collection) -> None:
    """The entries of rows of written engagements, which are found by its words as well."""
    for table, indexed in TABLES.items():
        if indexed.engagement not in (None, "pk"):
            refresh(table, list(models.QuerySet(table).filter(
                **{f"{indexed.engagement}__in": keys}).values_list("pk", flat=True)))


def refresh_rows_of_customers(_table: type[models.Model], keys: Collection) -> None:
    """The entries of the engagements of written customers, and of their rows."""
    found = list(Engagement.objects.filter(customer__in=keys).values_list("pk", flat=True))
    if found:
        refresh(Engagement, found)
        refresh_rows_of_engagements(Engagement, found)


def words_of(texts: list[str]) -> list[str]:
    """The words of a row: of Chinese each pair and the last character, else each ending."""
    found: dict[str, None] = {}
    for run in RUNS.findall(" ".join(filter(None, texts)).casefold()):
        if CHINESE.match(run):
            found |= dict.fromkeys(run[n:n + 2] for n in range(len(run)))
        else:
            found |= dict.fromkeys(run[n:n + LONGEST] for n in range(len(run)))
    return list(found)[:MOST]


def asked_for(text: str) -> list[str]:
    """What a row has to hold so that the text is found in it; `*` stands for any ending."""
    asked: dict[str, None] = {}
    for run in RUNS.findall(text.casefold()):
        if not CHINESE.match(run):
            asked[f"{run[:LONGEST]}*"] = None
        elif len(run) == 1:
            asked[f"{run}*"] = None
        else:
            asked |= dict.fromkeys(run[n:n + 2] for n in range(len(run) - 1))
    return list(asked)
