"""Commands of the search box: go to a page, create, run, assign – alone or for one engagement.

A command is a link to the page where the thing is done; it is offered to roles that may do it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from delivery.portal.search.global_search import MAX_QUERY_LENGTH, Hit
from engagements.access import Can, allowed
from engagements.models import Engagement, Role, User
from engagements.stages import DONE

MOST = 8


@dataclass(frozen=True)
class Command:
    """`route` takes the engagement's code where the command is about one."""

    label: Any
    route: str
    may: Callable[[User], bool]


def _may(*actions: Can) -> Callable[[User], bool]:
    return lambda user: any(allowed(user, action) for action in actions)


def _is_administrator(user: User) -> bool:
    return user.role == Role.ADMINISTRATOR


_INSIDE = _may(Can.VIEW_INTERNAL)
COMMANDS = (
    Command(_("Create an engagement"), "engagements:new", _may(Can.BEGIN)),
    Command(_("Create a user account"), "people:new", _is_administrator),
    Command(_("Create a node"), "workers:node_new", _may(Can.OPERATE)),
    Command(_("Go to the portfolio"), "portal:portfolio", _INSIDE),
    Command(_("Go to the board"), "planning:board", _INSIDE),
    Command(_("Go to the queue of jobs"), "workers:queue", _INSIDE),
    Command(_("Go to the calendar of nodes"), "workers:calendar", _INSIDE),
    Command(_("Go to notification settings"), "notices:preferences", lambda user: True),
    Command(_("Go to the guide"), "portal:help", lambda user: True),
)
# These stand behind the code of an engagement: “run EP2501”.
OF_ENGAGEMENT = (
    Command(_("Assign people"), "engagements:team", _may(Can.MANAGE)),
    Command(_("Create a model"), "engagements:model_new", _may(Can.MANAGE)),
    Command(_("Create a quote"), "quotes:engagement", _may(Can.PRICE)),
    Command(_("Create a document"), "reports:engagement", _may(Can.ISSUE, Can.WORK)),
    Command(_("Go to the survey"), "surveys:overview", lambda user: True),
    Command(_("Go to criteria and verdicts"), "assessments:criteria", lambda user: True),
    Command(_("Go to the plan"), "planning:plan", _INSIDE),
    Command(_("Go to project control"), "planning:control", _INSIDE),
    Command(_("Go to time"), "planning:time", _INSIDE),
)
RUN = Command(_("Run a job"), "workers:job_new", _may(Can.WORK))


def commands_for(user: User, text: str) -> list[Hit]:
    """Commands that hold every word of the text; a word may be the code of an engagement.

    Nothing without words. The number of queries does not depend on the number of rows.
    """
    words = text[:MAX_QUERY_LENGTH].casefold().split()
    return list(_found(user, words))[:MOST] if words else []


def _found(user: User, words: list[str]) -> Iterator[Hit]:
    for command in COMMANDS:
        if command.may(user) and _fits(command, words):
            yield Hit(reverse(command.route), str(command.label), "")
    codes = [word.upper() for word in words]
    for engagement in Engagement.objects.visible_to(user).filter(code__in=codes)[:1]:
        left = [word for word in words if word != engagement.code.casefold()]
        if left:
            yield from _of_engagement(user, engagement, left)


def _of_engagement(user: User, engagement: Engagement, words: list[str]) -> Iterator[Hit]:
    for command in OF_ENGAGEMENT:
        if command.may(user) and _fits(command, words):
            yield Hit(reverse(command.route, args=[engagement.code]), str(command.label),
                      f"{engagement.code} {engagement.localized_name}")
    if RUN.may(user):
        yield from _runs(engagement, words)


def _runs(engagement: Engagement, words: list[str]) -> Iterator[Hit]:
    """A job of each model whose code or the command holds the words, in the stage it stands in."""
    for model in engagement.models.current().prefetch_related("stages"):
        if _fits(RUN, words, model.code):
            here = next((one for one in model.stages.all() if one.state not in DONE), None)
            stage = f"&stage={here.stage}" if here else ""
            yield Hit(f"{reverse(RUN.route)}?model={model.pk}{stage}", f"{RUN.label}: {model.code}",
                      f"{engagement.code} · {here.get_stage_display() if here else ''}")


def _fits(command: Command, words: list[str], more: str = "") -> bool:
    label = f"{command.label} {more}".casefold()
    return all(word in label for word in words)
