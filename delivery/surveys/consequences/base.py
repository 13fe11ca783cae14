"""What a consequence is, and the registry of their kinds."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from bundle_verifier.canonical import SPACED, content_hash
from delivery.surveys.consequences.counted_answers import CountedAnswers
from delivery.surveys.models import Consequence, Survey
from engagements.models import MigratedModel, User


@dataclass(frozen=True)
class Item:
    """One thing that follows from the answers.

    Args:
        key: which one within its kind.
        value: what the answers give, in codes and figures, fit for JSON.
        because: keys of the questions that it follows from.
    """

    kind: str
    key: str
    model: MigratedModel | None
    value: dict[str, Any]
    because: tuple[str, ...]

    @property
    def code(self) -> str:
        """`kind:key` or `kind:key@MODEL`."""
        return f"{self.kind}:{self.key}" + (f"@{self.model.code}" if self.model else "")


def digest(value: Any) -> str:
    """A short hash of a value, so that what is applied is what was shown."""
    return content_hash(value, SPACED)[:16]


class Kind(ABC):
    """One kind: how it follows from the answers, how it reads, and what applying it does.

    `apply` and `withdraw` call services of the app concerned, inside the caller's transaction.
    """

    code: ClassVar[str]
    title: ClassVar[Any]
    explanation: ClassVar[Any] = ""

    @abstractmethod
    def follow(self, given: CountedAnswers) -> Iterator[Item]:
        """The items that follow from the answers."""

    @abstractmethod
    def label(self, key: str) -> str:
        """What the item is about, in the active language."""

    @abstractmethod
    def show(self, key: str, value: dict[str, Any]) -> str:
        """The value in the active language."""

    def now(self, item: Item, survey: Survey) -> str:
        """What stands in the engagement itself today; "" where that is not looked at."""
        return ""

    @abstractmethod
    def apply(self, actor: User, survey: Survey, item: Item, before: Consequence | None
              ) -> dict[str, Any]:
        """Take the item over; what to keep as the result. Raises DeskError."""

    @abstractmethod
    def withdraw(self, actor: User, survey: Survey, applied: Consequence) -> None:
        """Undo what no longer follows, as far as it can be undone."""


KINDS: dict[str, Kind] = {}


def register(kind: type[Kind]) -> type[Kind]:
    """Class decorator: add the kind, in the order in which kinds are shown and applied."""
    KINDS[kind.code] = kind()
    return kind
