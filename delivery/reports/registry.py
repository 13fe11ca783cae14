"""The registry of document kinds: one declaration per kind, one module each (DOMAIN 9, 10).

A kind says what it is called, who writes, reviews and issues it, which facts go in, in which
order they are printed, what must hold before it is issued, and which files are made of it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import override

from engagements.access import Can
from engagements.errors import InvalidInput

LONGEST_CODE = 4
SORTS = ("words", "table", "figure", "figures", "part")  # of what a chapter prints
WITHDRAWN = "withdrawn"  # the PDF that bears the mark; before a dash, another format that does


@dataclass(frozen=True)
class Section:
    """A chapter. `parts` name what it prints, in order: `words:CODE`, `table:KEY`, `figure:KEY`,
    `figures:KEY` (a list of them) or `part:NAME`, a template in templates/documents/parts; none
    means the part of its id."""

    id: str
    title: str
    parts: tuple[str, ...] = ()
    is_wide: bool = False  # landscape, on pages of its own
    side: str = ""  # printed only where this side of some model is delivered: see Side
    starts_page: bool = False
    is_numbered: bool = True

    @property
    def all_parts(self) -> tuple[str, ...]:
        return self.parts or (f"part:{self.id}",)


@dataclass(frozen=True)
class Block:
    """A written passage of a document. Its standard text is data (`wording`); the author may
    change it in the draft. A required one may not be empty."""

    code: str
    title: str
    is_required: bool = True
    hint: str = ""  # what its author should say
    side: str = ""  # as of a section


@dataclass(frozen=True)
class Problem:
    """What stands in the way of issuing: a sentence, and the page where it is cured."""

    sentence: str
    url: str = ""


# Rows know their kind; kinds know of rows only that these functions take them.
Rule = Callable[[Any], Iterable[Problem]]  # of a document
Facts = Callable[[Any], dict]  # of a `facts.source.Source`


@dataclass(frozen=True)
class DocumentKind:
    """One kind of document; see the module's text."""

    code: str
    title: str
    purpose: str
    sections: tuple[Section, ...]
    facts: Facts
    annexes: tuple[Section, ...] = ()
    blocks: tuple[Block, ...] = ()
    rules: tuple[Rule, ...] = ()
    written_by: Can = Can.WORK
    reviewed_by: Can = Can.WORK
    issued_by: Can = Can.ISSUE
    is_accepted: bool = False  # the customer decides on it and signs
    is_judged: bool = False  # holds verdicts and raw files: evidence bundles belong to it
    records: Facts | None = None  # its facts without what is slow to make
    writers: dict[str, Callable[..., bytes]] = field(default_factory=dict)
    # Its shipped approval chain, as `save_chain` takes it; empty: one review, one approval.
    chain: tuple[dict[str, str | bool], ...] = ()
    has_front_pages: bool = True  # cover, sign-off, history and contents; else a title only

    def present(self, source: Any) -> dict:
        """What the records say now, to be compared with a draft; pictures may be left out."""
        return (self.records or self.facts)(source)

    def sections_for(self, facts: dict) -> list[Section]:
        """Its chapters, without those on what none of the engagement's models is delivered for."""
        return [section for section in self.sections if _is_asked(section, facts)]

    def blocks_for(self, facts: dict) -> list[Block]:
        """Its written passages, the same way."""
        return [block for block in self.blocks if _is_asked(block, facts)]

    @property
    def formats(self) -> tuple[str, ...]:
        """Formats of its files: pdf, and what its own writers make."""
        return ("pdf", *self.writers)

    @property
    def withdrawn_formats(self) -> tuple[str, ...]:
        """Formats of the marked copies that a withdrawal adds, one beside each file."""
        return (WITHDRAWN, *(f"{WITHDRAWN}-{form}" for form in self.writers))


def _is_asked(part: Section | Block, facts: dict) -> bool:
    """Snapshots of before say nothing of deliveries: they print everything."""
    return not part.side or part.side in facts.get("deliveries", [part.side])


_kinds: dict[str, DocumentKind] = {}


def register(kind: DocumentKind) -> DocumentKind:
    """Add a kind. Raises ValueError if its code is taken, or its chapters and passages do not
    match; what only a template or a Word file shows is found by `kind_checks`."""
    parts = [part for section in (*kind.sections, *kind.annexes) for part in section.all_parts]
    written = {f"words:{block.code}" for block in kind.blocks}
    wrong = [
        *(["its code is declared twice"] if kind.code in _kinds else []),
        *(["its code is longer than the column"] if len(kind.code) > LONGEST_CODE else []),
        *(f"{part} is no part" for part in parts if part.partition(":")[0] not in SORTS),
        *(f"{part} is no passage of it" for part in parts
          if part.startswith("words:") and part not in written),
        *(f"{passage} is printed nowhere" for passage in sorted(written - set(parts)))]
    if wrong:
        raise ValueError(f"document kind {kind.code}: {'; '.join(wrong)}")
    _kinds[kind.code] = kind
    return kind


def get(code: str) -> DocumentKind:
    """The kind of that code. Raises InvalidInput naming those there are."""
    if code not in _kinds:
        raise InvalidInput(_("There is no document kind “%(code)s”; there are: %(codes)s.") % {
            "code": code, "codes": ", ".join(_kinds)})
    return _kinds[code]


def all_kinds() -> Iterable[DocumentKind]:
    """All kinds in the order in which an engagement needs them."""
    return sorted(_kinds.values(), key=lambda kind: ORDER.index(kind.code)
                  if kind.code in ORDER else len(ORDER))


def titles_of(code: str) -> list[str]:
    """The kind's title in every language; none of one that is no longer declared."""
    titles = []
    for language, _name in settings.LANGUAGES:
        with override(language):
            titles += [str(kind.title) for kind in all_kinds() if kind.code == code]
    return titles


def choices() -> list[tuple[str, str]]:
    """(code, title) of all kinds."""
    return [(kind.code, kind.title) for kind in all_kinds()]


def accepted_kinds() -> list[str]:
    """Codes of the kinds that the customer decides on and signs."""
    return [kind.code for kind in _kinds.values() if kind.is_accepted]


# Along the stages (DOMAIN 9.1, document map); others follow.
ORDER = ("AS", "SOW", "MP", "AC", "BL", "EC", "TR", "UG", "PA", "PL", "FA", "HD")
