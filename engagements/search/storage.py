"""What the databases need to find words quickly: made after every `migrate`, where it is missing.

PostgreSQL: an index over the words as lexemes; over the labels of the audit log one by trigrams,
where the extension is there or the database's owner may install it (else its text filter walks).
SQLite: an FTS5 table over the words of SearchEntry, kept by triggers (which are gone when a
migration makes the table anew).
"""

import contextlib

from django.db import (
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    connections,
    transaction,
)

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


def make(using: str) -> None:
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
