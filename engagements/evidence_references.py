"""What a person names as evidence: a stored thing by its number, an address, or a place in words.

This app only knows addresses and words; higher apps register prefixes such as `#` for files.
"""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from engagements.errors import InvalidInput
from engagements.models import Engagement

MAX_LENGTH = 240


@dataclass(frozen=True)
class Evidence:
    """Text for people and, where there is one, the page that shows it."""

    text: str
    url: str = ""


# Of an engagement and the text behind the prefix: the evidence, None if there is no such thing.
Resolver = Callable[[Engagement, str], Evidence | None]
_resolvers: dict[str, Resolver] = {}


def register_evidence_prefix(prefix: str) -> Callable[[Resolver], Resolver]:
    """Decorator: add a resolver for texts that begin with a prefix."""

    def add(resolver: Resolver) -> Resolver:
        _resolvers[prefix] = resolver
        return resolver

    return add


def resolve(engagement: Engagement, text: str) -> Evidence:
    """What the text names. Raises InvalidInput for a number that this engagement does not have."""
    text = text.strip()
    if len(text) > MAX_LENGTH:
        raise InvalidInput(_("The evidence may have at most %(n)d characters.")
                           % {"n": MAX_LENGTH})
    for prefix, resolver in _resolvers.items():
        if text.startswith(prefix):
            found = resolver(engagement, text[len(prefix):].strip())
            if found is None:
                raise InvalidInput(_("This engagement has no “%(what)s”.") % {"what": text})
            return found
    is_address = urlsplit(text).scheme in ("http", "https") if text.startswith("http") else False
    return Evidence(text, text if is_address else "")


def shown(engagement: Engagement, text: str) -> Evidence:
    """As `resolve`, for text that was stored: what is gone meanwhile is shown as plain words."""
    try:
        return resolve(engagement, text)
    except InvalidInput:
        return Evidence(text)
