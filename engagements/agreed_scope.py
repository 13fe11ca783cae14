"""Models and stages and the end that were agreed on with the customer change by a change request
alone.

The package that knows agreements registers what names them, as gate checks are registered.
"""

from collections.abc import Callable

from django.utils.translation import gettext as _

from engagements.errors import WrongState
from engagements.models import Engagement

Agreement = Callable[[Engagement], str]
_agreements: list[Agreement] = []
_periods: list[Agreement] = []


def register_agreement(named: Agreement) -> Agreement:
    """Decorator: add a function that names the agreement which holds the scope; "" for none."""
    _agreements.append(named)
    return named


def require_open_scope(engagement: Engagement, *, is_approved: bool) -> None:
    """Raise WrongState where the scope is agreed and no change request that both sides approved
    changes it."""
    held = [] if is_approved else [name for named in _agreements if (name := named(engagement))]
    if held:
        raise WrongState(_("Models and stages are agreed in %(agreement)s: draft a change request "
                           "under “Changes”; once both sides have approved it, the scope and the "
                           "price follow.") % {"agreement": held[0]})


def require_nothing_agreed(engagement: Engagement) -> None:
    """Raise WrongState where the customer agreed to something already: what was won is not lost."""
    held = next(filter(None, (named(engagement) for named in _agreements)), "")
    if held:
        raise WrongState(_("%(agreement)s is agreed with the customer: cancel the engagement with "
                           "a settlement instead.") % {"agreement": held})


def register_period(named: Agreement) -> Agreement:
    """Decorator: add a function that names the agreement which holds the period; "" for none."""
    _periods.append(named)
    return named


def require_open_period(engagement: Engagement, *, is_approved: bool) -> None:
    """Raise WrongState where the end is agreed and no approved change request changes it."""
    held = [] if is_approved else [name for named in _periods if (name := named(engagement))]
    if held:
        raise WrongState(_("The end is agreed in %(agreement)s: draft a change request under "
                           "“Changes” that moves it.") % {"agreement": held[0]})
