"""Documents that trigger milestones. The app that issues them registers the source."""

from collections.abc import Callable
from dataclasses import dataclass

from engagements.models import Engagement, User


@dataclass(frozen=True)
class TriggerDocument:
    """An issued document: its number, and the address of its page."""

    number: str
    url: str


Source = Callable[[User, Engagement], dict[str, TriggerDocument]]
_sources: list[Source] = []


def register_trigger_documents(source: Source) -> Source:
    """Decorator: add a source of issued documents by kind, as far as the user may see them."""
    _sources.append(source)
    return source


def trigger_documents(user: User, engagement: Engagement) -> dict[str, TriggerDocument]:
    """The newest issued document of each kind that the user may see."""
    return {kind: found for source in _sources
            for kind, found in source(user, engagement).items()}
