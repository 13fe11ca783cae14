"""What a stage form holds."""

from dataclasses import dataclass

from engagements.models.engagement import localized


@dataclass(frozen=True)
class Line:
    """One line of a form in both languages."""

    text: str
    text_en: str

    def __str__(self) -> str:
        return localized(self.text, self.text_en)


@dataclass(frozen=True)
class Item(Line):
    """Something a person confirms; `needs_evidence` if words are not enough."""

    needs_evidence: bool = False


@dataclass(frozen=True)
class StageForm:
    """The form of a stage (DOMAIN 2.2). The checklist holds what the system cannot see itself."""

    activities: tuple[Line, ...]
    inputs: tuple[Line, ...]
    outputs: tuple[Line, ...]
    exit: tuple[Line, ...]
    risks: tuple[Line, ...]
    tools: tuple[Line, ...]
    checklist: tuple[Item, ...]


def lines(*pairs: tuple[str, str]) -> tuple[Line, ...]:
    """Lines from (zh, en) pairs."""
    return tuple(Line(zh, en) for zh, en in pairs)


def items(*triples: tuple[str, str, bool]) -> tuple[Item, ...]:
    """Checklist items from (zh, en, needs evidence)."""
    return tuple(Item(zh, en, needs) for zh, en, needs in triples)
