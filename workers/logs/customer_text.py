"""What customers read of sentences and logs of jobs: no name of a node, no absolute path of one.

Stored files stay as they are: their checksums are evidence.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from django.utils.translation import gettext

from engagements.access import Can, allowed
from engagements.models import User
from toolreaders.causes.log_parts import whole_lines
from workers.models import Node

PATH = re.compile(r"(?<![\w.:/~])~?/(?:[^\s/'\"<>|:,;()\[\]{}]+/)+(?=[^\s/]|\b|$)")
WORD = re.compile(r"[\w.-]+")
ABOVE = "…/"  # what stands for the folders above a file


def shown_to(user: User) -> Callable[[str], str]:
    """A function that gives a text as the user may read it; people of the firm read it whole."""
    if allowed(user, Can.VIEW_INTERNAL):
        return str
    if not hasattr(user, "hidden_names"):  # once in a request
        rows = Node.objects.values_list("name", "host")
        user.hidden_names = {name for row in rows for name in row if name}
    return partial(_without_places, user.hidden_names)


def lines_shown_to(user: User, pieces: Iterable[bytes]) -> Iterator[str | bytes]:
    """The pieces of a log; for customers cut at line ends, so that no name is cut in two."""
    if allowed(user, Can.VIEW_INTERNAL):
        return iter(pieces)
    return map(shown_to(user), whole_lines(pieces))


def _without_places(names: set[str], text: str) -> str:
    for name in names:
        if not WORD.fullmatch(name):
            text = text.replace(name, gettext("a node"))
    return WORD.sub(partial(_word, names), PATH.sub(ABOVE, text))


def _word(names: set[str], found: re.Match[str]) -> str:
    word = found[0].rstrip(".-")
    return gettext("a node") + found[0][len(word):] if word in names else found[0]
