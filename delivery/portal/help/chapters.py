"""The chapters of the user guide: their files, and the pages that each of them is about."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.conf import settings
from django.http import Http404
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

GUIDE = Path(settings.BASE_DIR) / "docs" / "guide"
MARKS = re.compile(r"^(?:\d+\.|-) |\*\*|`")
SENTENCE_END = re.compile(r"(?<=。)|(?<=\.) ")
LANGUAGES = {"zh-hans": "zh", "en": "en"}
# Chapter: namespaces and routes of the pages it is about; the more exact one wins.
PAGES: dict[str, tuple[str, ...]] = {
    "01-start": ("portal", "people", "notices", "practice"),
    "02-engagement": ("engagements",),
    "03-survey": ("surveys",),
    "04-quote": ("quotes", "planning:effort", "planning:effort_line",
                 "planning:effort_line_new", "planning:costs"),
    "05-control": ("planning", "portal:portfolio"),
    "06-jobs": ("workers",),
    "07-criteria": ("assessments",),
    "08-stages": ("engagements:stage", "planning:board"),
    "09-documents": ("reports", "documents"),
    "10-acceptance": ("acceptance", "evidence"),
    "11-knowledge": ("knowledge",),
    "12-signatures": ("acceptance:signing",),
}


@dataclass(frozen=True)
class Chapter:
    """One chapter in one language; `html` is made of our own files only."""

    slug: str
    title: str
    summary: str  # its first sentence
    html: SafeString

    @property
    def url(self) -> str:
        return reverse("portal:help_chapter", args=[self.slug])


@cache
def chapter(slug: str, language: str) -> Chapter:
    """A chapter; Http404 for a name that is none."""
    if slug not in PAGES:
        raise Http404
    folder = LANGUAGES.get(language, "zh")
    heading, _newline, text = (GUIDE / folder / f"{slug}.md").read_text().partition("\n")
    html = MarkdownIt("commonmark", {"html": False}).render(_with_pictures(text, folder))
    return Chapter(slug, heading.removeprefix("# ").strip(), _first_sentence(text),
                   mark_safe(html))


def _first_sentence(text: str) -> str:
    """Of the first line that is no picture, without marks of Markdown."""
    line = next(line for line in text.splitlines() if line and not line.startswith("!["))
    return SENTENCE_END.split(MARKS.sub("", line), maxsplit=1)[0]


def _with_pictures(text: str, folder: str) -> str:
    """`![words](name)` leads to the picture of the language; one not taken yet is left out."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("!["):
            lines.append(line)
        elif picture_path(folder, name := line.rpartition("(")[2].rstrip(")")).exists():
            words = line[2:line.index("]")]
            address = reverse("portal:help_picture", args=[folder, name])
            lines.append(f"![{words}]({address})")
    return "\n".join(lines)


def picture_path(folder: str, name: str) -> Path:
    """Where a picture lies; `name` comes from an address that allows letters and `-` only."""
    return GUIDE / folder / f"{name}.png"


def chapters(language: str) -> list[Chapter]:
    """All chapters in order."""
    return [chapter(slug, language) for slug in PAGES]


def slug_for(namespace: str, route: str) -> str:
    """The chapter about a page."""
    for asked in (f"{namespace}:{route}", namespace):
        for slug, pages in PAGES.items():
            if asked in pages:
                return slug
    return next(iter(PAGES))
