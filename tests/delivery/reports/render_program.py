"""A program that renders documents in a process of its own, on a day of its own.

    python rendered_apart.py PAPERS DAYS FOLDER

Reads what `same_everywhere` pickled, moves the clock by DAYS, and prints "name language format
sha256" for every file of each. FOLDER is for what the process keeps (figures).
"""

import datetime
import hashlib
import os
import pickle
import sys
import time
from collections.abc import Iterator
from pathlib import Path


def move_clock(days: float) -> None:
    """Every way in which Python code asks for the time tells another one."""
    seconds, real = days * 86400, time.time
    time.time = lambda: real() + seconds
    time.time_ns = lambda: int(time.time() * 1e9)
    for name in ("gmtime", "localtime"):
        asked = getattr(time, name)
        setattr(time, name, lambda at=None, asked=asked: asked(time.time() if at is None else at))

    class Moved(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls.fromtimestamp(time.time(), tz)

        @classmethod
        def utcnow(cls):
            return cls.fromtimestamp(time.time(), datetime.UTC).replace(tzinfo=None)

        today = now

    datetime.datetime = Moved


def main(documents: str, days: str, folder: str) -> None:
    move_clock(float(days))
    os.environ |= {"DJANGO_SETTINGS_MODULE": "delivery.settings", "DESK_VAR_DIR": folder,
                   "DESK_ARTIFACT_DIR": folder, "DESK_RENDER_PROCESS": "false",
                   "DESK_PUBLIC_URL": f"http://somewhere-{days}.example"}
    import django

    django.setup()
    made = {"document": of_document, "quote": of_quote, "page": of_page}
    for sort, frozen in pickle.loads(Path(documents).read_bytes()):
        for name, content in made[sort](frozen):
            print(name, hashlib.sha256(content).hexdigest())


def of_document(facts: dict) -> Iterator[tuple[str, bytes]]:
    """Every file of a document, from its snapshot."""
    from delivery.documents.bilingual import LANGUAGES
    from delivery.reports import registry
    from delivery.reports.rendering import render_document

    writers = {"pdf": render_document, **registry.get(facts["kind"]).writers}
    for language in LANGUAGES:
        for form, write in writers.items():
            yield f"{facts['kind']} {language} {form}", write(facts, language)


def of_quote(facts: dict) -> Iterator[tuple[str, bytes]]:
    """PDF and workbook of an issued quote, from its snapshot."""
    from delivery.documents.bilingual import LANGUAGES
    from delivery.quotes.models import Quote
    from delivery.quotes.rendering import quote_pdf
    from delivery.quotes.xlsx.workbook import quote_xlsx

    quote = Quote(snapshot=facts, content_hash="0" * 64)
    for language in LANGUAGES:
        yield f"quote {language} pdf", quote_pdf(quote, language)
        yield f"quote {language} xlsx", quote_xlsx(quote, language)


def of_page(asked: tuple[str, dict, str]) -> Iterator[tuple[str, bytes]]:
    """What `render_pdf` was asked for."""
    from delivery.documents.pdf import render_pdf

    template, _context, language = asked
    yield f"{Path(template).stem} {language} pdf", render_pdf(*asked)


if __name__ == "__main__":
    main(*sys.argv[1:])
