"""How an engagement goes on: each step with its page, and who can take it or is missing."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.next_steps.inbox import many
from delivery.next_steps.items import FEW, InboxContext
from delivery.next_steps.registry import RULES
from delivery.next_steps.rules import NextStep, Place, Scope
from engagements.duties import members_of
from engagements.models import Engagement, Role, User
from engagements.text.text_joining import following, listed

TABLES = {"engagements.engagement": "closing",
          "surveys.survey": "survey", "quotes.quote": "quote", "reports.document": "document",
          "planning.changerequest": "change", "planning.changeproposal": "change_proposal",
          "planning.timesheet": "timesheet", "engagements.stagerecord": "stage",
          "workers.job": "job", "acceptance.review": "review",
          "planning.weeklyreport": "weekly"}


@dataclass(frozen=True)
class EngagementStep:
    """One step: what, about what, where, since when and until when, and who.

    `people` are those who can take it; where there is nobody, `missing` says whom it needs.
    """

    code: str
    label: str
    title: str
    url: str
    urgency: int
    reason: str
    people: list[User]
    missing: str = ""
    since: datetime | None = None
    due: date | None = None
    count: int = 1
    rows: list[Any] = field(default_factory=list, repr=False)

    @property
    def names(self) -> str:
        """The first who can take it, and how many others can."""
        first, *others = self.people
        return _("%(name)s (+%(n)d)") % {"name": first, "n": len(others)} if others else str(first)

    @property
    def all_names(self) -> str:
        return listed(self.people)

    def is_for(self, user: User) -> bool:
        """Whether the user can take it."""
        return user.pk in {person.pk for person in self.people}


def engagement_steps(engagement: Engagement, user: User, now: datetime | None = None,
                     rules: Iterable[NextStep] = RULES) -> list[EngagementStep]:
    """The engagement's next steps, the most urgent first; what the user can do before the rest.

    The customer's people see those that wait for their side. The number of queries does not depend
    on the number of rows.
    """
    now = now or timezone.now()
    scope, context = Scope(now, engagement=engagement), InboxContext(user, now)
    people = list(members_of(engagement))
    found = [step for rule in rules for step in _steps(rule, scope, context, people)]
    if user.is_reviewer:
        found = [step for step in found if any(person.is_reviewer for person in step.people)]
    return sorted(found, key=lambda step: (step.urgency, not step.is_for(user)))


def _steps(rule: NextStep, scope: Scope, context: InboxContext, people: list[User]
           ) -> Iterator[EngagementStep]:
    able = [person for person in people if rule.may(person)]
    by_people: dict[tuple, list[tuple[Any, Place]]] = defaultdict(list)
    for row in rule.rows(scope):
        who = tuple(person for person in able if rule.is_for(person, row))
        by_people[who].append((row, rule.place(row)))
    for who, found in by_people.items():
        rows, places = zip(*found, strict=True)
        if rule.board and len(places) > FEW:
            place = many(rule, scope.engagement.code, list(places))
            yield _step(rule, context, place, who, list(rows))
        else:
            yield from (_step(rule, context, place, who, [row]) for row, place in found)


def _step(rule: NextStep, context: InboxContext, place: Place, who: tuple[User, ...],
          rows: list) -> EngagementStep:
    rank = rule.rank if place.rank is None else place.rank
    line = context.item(rank, rule.code, "", "", "", "", since=place.since, due=place.due)
    return EngagementStep(
        code=place.kind or rule.code, label=place.label or str(rule.label), title=place.title,
        url=place.url, urgency=line.urgency, reason=line.reason, people=list(who),
        missing="" if who else _missing(rule, rows[0]), since=place.since, due=place.due,
        count=len(rows), rows=rows)


def _missing(rule: NextStep, row: Any) -> str:
    """Whom the engagement needs, where nobody of it can take the step."""
    if rule.lacks and (sentences := rule.lacks(row)):
        return following(*sentences)
    roles = [role.label for role in Role if rule.may(User(role=role))]
    return _("Nobody on the team can do this: add a person of the role %(roles)s who did no other "
             "step of it.") % {"roles": listed(roles)}


def steps_of(subject: Any, user: User) -> list[EngagementStep]:
    """The next steps of one object: a quote, document, change, survey, timesheet, stage record,
    weekly report or job, or of a review the step of its signer too."""
    table = TABLES[subject._meta.label_lower]
    rules = [rule for rule in RULES if table in {name for name, _state in rule.covers}]
    about = {subject, subject.document} if table == "review" else {subject}
    return [step for step in engagement_steps(subject.engagement, user, rules=rules)
            if not about.isdisjoint(step.rows)]
