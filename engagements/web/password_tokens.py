"""Whether a name and a password alone give an API token."""

from collections.abc import Callable

from django.utils.translation import gettext as _

from engagements.errors import NotAllowed
from engagements.models import User

_needs_more: list[Callable[[User], bool]] = []


def register_second_factor(needs_it: Callable[[User], bool]) -> None:
    """Add a rule that says of whom more than a password is asked."""
    _needs_more.append(needs_it)


def require_password_is_enough(user: User) -> None:
    """Raise NotAllowed for somebody who shows a second factor to sign in."""
    if any(needs_it(user) for needs_it in _needs_more):
        raise NotAllowed(_("You sign in with a second factor: make the token on the page “API "
                           "tokens”."))
