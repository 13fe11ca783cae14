"""What is said to whoever gives work to a person: registered by the package that knows their weeks.
"""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest

from engagements.models import User

Remark = Callable[[User], str]
_remarks: list[Remark] = []


def register_remark(remark: Remark) -> None:
    """Add a function that says a sentence about a person, or nothing."""
    _remarks.append(remark)


def show_remarks(request: HttpRequest, *people: User | None) -> None:
    """Show what there is to say of these people as messages; nothing is refused."""
    for person in people:
        for remark in _remarks if person else ():
            if sentence := remark(person):
                messages.warning(request, sentence)
