"""How many rows and files, in the reader's language."""

from django.utils.translation import ngettext


def rows_text(count: int) -> str:
    return ngettext("%(n)d row", "%(n)d rows", count) % {"n": count}


def files_text(count: int) -> str:
    return ngettext("%(n)s file", "%(n)s files", count) % {"n": count}


def new_files_text(count: int) -> str:
    return ngettext("%(n)d new file", "%(n)d new files", count) % {"n": count}
