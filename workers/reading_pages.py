"""The registry of pages that show a kind of reading in full. Higher apps register theirs."""

from collections.abc import Callable

from workers.models import StoredReading

ReadingPage = Callable[[StoredReading], tuple[str, str] | None]
_pages: dict[str, ReadingPage] = {}


def register_reading_page(kind: str) -> Callable[[ReadingPage], ReadingPage]:
    """Decorator: label and address of the page for a kind's readings; None where it has none."""

    def add(page: ReadingPage) -> ReadingPage:
        _pages[kind] = page
        return page

    return add


def page_of(reading: StoredReading) -> tuple[str, str] | None:
    """Label and address of the page that shows the reading in full, if there is one."""
    page = _pages.get(reading.kind)
    return page(reading) if page else None
