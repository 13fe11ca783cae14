"""Separation of duties (DOMAIN 9.11, AR-11): one rule for everything that people write, review and
approve.

An app declares for its kind of object who did which step and who may do which; whoever did one
step does no other one. The firm may let two people do with the three steps of a kind
(`DutySetting`), but an author never approves. `separated` is the guard of a transition.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

from django.db import models
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from engagements.errors import NotAllowed
from engagements.models import DutySetting, Engagement, Membership, Role, User
from engagements.text.text_joining import following, listed

People = DutySetting.People


class Duty(models.TextChoices):
    AUTHOR = "author", gettext_lazy("Author")
    REVIEWER = "reviewer", gettext_lazy("Reviewer")
    APPROVER = "approver", gettext_lazy("Approver")
    TESTER = "tester", gettext_lazy("Tester")  # whoever alone measured what is reviewed


MAY_COINCIDE: dict[str, frozenset[Duty]] = {
    People.REVIEWER_APPROVES: frozenset({Duty.REVIEWER, Duty.APPROVER}),
    People.AUTHOR_REVIEWS: frozenset({Duty.AUTHOR, Duty.REVIEWER}),
}


@dataclass(frozen=True)
class Step:
    """A step after the author's: its duty, its title, and who may do it by role."""

    duty: Duty
    title: str
    may: Callable[[User], bool]


@dataclass(frozen=True, kw_only=True)
class DutyRule:
    """How the duties of a kind of object follow from its rows.

    `done_by` names the keys of the people who did each step; `steps` lists the steps after the
    author's. `is_settable` where the firm may let two people do.
    """

    code: str
    title: str
    done_by: Callable[[Any], Mapping[Duty, Iterable[int | None]]]
    steps: Callable[[Any], list[Step]]
    engagement: Callable[[Any], Engagement] = attrgetter("engagement")
    is_settable: bool = False


_rules: dict[str, DutyRule] = {}


def register(rule: DutyRule) -> DutyRule:
    """Add a rule. Raises ValueError if its code is taken."""
    if rule.code in _rules:
        raise ValueError(f"the duties of {rule.code} are declared twice")
    _rules[rule.code] = rule
    return rule


def settable_rules() -> list[DutyRule]:
    """The rules of which the firm sets how many people they ask for."""
    return [rule for rule in _rules.values() if rule.is_settable]


def people_of(rule: DutyRule) -> str:
    """How many people the firm asks for."""
    own = DutySetting.objects.filter(kind=rule.code) if rule.is_settable else ()
    return next((setting.people for setting in own), People.THREE)


def conflict(rule: DutyRule, user: User, subject: Any, duty: Duty) -> Duty | None:
    """The step that the user did and that keeps him from `duty`; None if there is none."""
    done = [other for other, people in rule.done_by(subject).items()
            if other != duty and user.pk in people]
    together = MAY_COINCIDE.get(people_of(rule)) if done else None
    return next((other for other in done if {other, duty} != together), None)


class DutyConflict(NotAllowed):
    """The user did another step of the object.

    The sentence is put together when it is read: a list of objects asks only whether there is one.
    """

    def __init__(self, rule: DutyRule, subject: Any, duty: Duty, done: Duty):
        super().__init__("")
        del self.message
        self.facts = rule, subject, duty, done

    @cached_property
    def message(self) -> str:
        rule, subject, duty, done = self.facts
        people = User.objects.filter(pk__in=[pk for pk in rule.done_by(subject)[done] if pk])
        others = others_who_may(rule, subject, duty)
        return following(
            _("%(done)s of %(object)s is %(people)s; %(duty)s must be somebody else.") % {
                "done": done.label, "object": subject, "people": listed(people),
                "duty": duty.label},
            _("People who may do it: %(people)s.") % {"people": listed(others)} if others
            else _nobody(rule, subject, duty))

    def __str__(self) -> str:
        return self.message


def separated(rule: DutyRule, duty: Duty) -> Callable[[User, Any], None]:
    """The guard of a transition: raises DutyConflict for whoever did another step."""

    def guard(user: User, subject: Any) -> None:
        require_separated(rule, user, subject, duty)

    guard.__name__ = f"no_other_duty_than_{duty}"
    return guard


def require_separated(rule: DutyRule, user: User, subject: Any, duty: Duty) -> None:
    """Raise DutyConflict, naming who did the step and who else may, for whoever did another."""
    if done := conflict(rule, user, subject, duty):
        raise DutyConflict(rule, subject, duty, done)


def members_of(engagement: Engagement) -> QuerySet[User]:
    """Active people who see the engagement."""
    members = Membership.objects.filter(engagement=engagement).values_list("user", flat=True)
    return User.objects.filter(
        Q(pk__in=list(members)) | Q(role__in=[
            role for role in Role if User(role=role).sees_every_engagement]),
        is_active=True).order_by("full_name", "pk")


def others_who_may(rule: DutyRule, subject: Any, duty: Duty) -> list[User]:
    """Members who have the role for a step and did no other one."""
    steps = [step for step in rule.steps(subject) if step.duty == duty]
    return [user for user in members_of(rule.engagement(subject))
            if any(step.may(user) for step in steps) and not conflict(rule, user, subject, duty)]


def _nobody(rule: DutyRule, subject: Any, duty: Duty) -> str:
    return following(*(_missing_sentence(step) for step in rule.steps(subject)
                       if step.duty == duty))


def _missing_sentence(step: Step) -> str:
    roles = [role.label for role in Role if step.may(User(role=role))]
    return _("Nobody here may do “%(step)s”: one more person is needed who did no other step; "
             "role: %(roles)s.") % {"step": step.title, "roles": listed(roles) or _("nobody")}


def missing_people(rule: DutyRule, subject: Any, author: User | None) -> list[str]:
    """Sentences on the steps for which the engagement has nobody, were `author` to submit.

    Without one, those who are its authors already count. People are placed so that as many steps
    as possible find somebody of their own (augmenting paths of a bipartite matching, Kuhn 1955).
    """
    together = MAY_COINCIDE.get(people_of(rule), frozenset())
    done = rule.done_by(subject)
    authors, testers = {author and author.pk, *done[Duty.AUTHOR]}, {*done.get(Duty.TESTER, ())}
    people, placed = list(members_of(rule.engagement(subject))), {}
    missing = []
    for step in rule.steps(subject):
        barred = testers if together == {Duty.AUTHOR, step.duty} else authors | testers
        able = [user.pk for user in people if user.pk not in barred and step.may(user)]
        group = step.duty if together == {Duty.REVIEWER, Duty.APPROVER} else ""
        if not _place((step, [(pk, group) for pk in able]), placed, set()):
            missing.append(_missing_sentence(step))
    return missing


def _place(claim: tuple[Step, list], placed: dict, seen: set) -> bool:
    """Give the claim a place, moving those who hold one if they find another."""
    for place in claim[1]:
        if place in seen:
            continue
        seen.add(place)
        if place not in placed or _place(placed[place], placed, seen):
            placed[place] = claim
            return True
    return False
