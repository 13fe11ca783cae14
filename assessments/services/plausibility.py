"""Questions about a baseline's value before it is frozen, asked by who knows similar figures."""

from collections.abc import Callable

from django.utils.translation import gettext as _

from assessments.models import Baseline
from engagements.access import Can, allowed
from engagements.errors import InvalidInput
from engagements.models import User

Check = Callable[[Baseline], str]
_checks: list[Check] = []


def register(check: Check) -> None:
    """Have a check asked about every baseline from now on: a question in the active language, or
    nothing."""
    _checks.append(check)


def questions_about(baseline: Baseline) -> list[str]:
    """What is asked about the baseline's value."""
    return [question for check in _checks if (question := check(baseline))]


def require_answered(actor: User, baseline: Baseline) -> None:
    """Raise InvalidInput while a question about the value has no answer.

    The customer does not read the question: it tells of the firm's other work.
    """
    if baseline.explanation or not (questions := questions_about(baseline)):
        return
    if not allowed(actor, Can.VIEW_INTERNAL):
        raise InvalidInput(_("The delivery team is still checking this value; confirm it once "
                             "they have."))
    raise InvalidInput(_("%(question)s Explain the value on the baseline's page, then confirm.")
                       % {"question": " ".join(questions)})
