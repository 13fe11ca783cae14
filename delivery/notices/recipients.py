"""Who hears of an event: the team by role, the person concerned, nobody who may not see it."""

from delivery.notices.event_kinds import EventKind
from delivery.notices.models import Preference
from engagements.access import allowed
from engagements.models import Engagement, User


def recipients(kind: EventKind, engagement: Engagement | None, *, actor: User | None,
               person: User | None = None) -> list[User]:
    """Active people who hear of it, without the one who did it.

    With an engagement its members, without one everybody whose role includes the audience.
    `person` (a job's or quote's maker) hears of it too, if he still sees the engagement.
    """
    people = User.objects.filter(is_active=True)
    if engagement:
        people = people.filter(memberships__engagement=engagement)
    chosen = {user.pk: user for user in people if may_hear(user, kind)}
    if person and person.is_active and _sees(person, kind, engagement):
        chosen[person.pk] = person
    return [user for pk, user in sorted(chosen.items()) if actor is None or pk != actor.pk]


def may_hear(user: User, kind: EventKind) -> bool:
    """Whether the role includes the audience; customers only hear what is meant for them."""
    return (kind.is_for_customers or not user.is_reviewer) and any(
        allowed(user, action) for action in kind.audience)


def _sees(user: User, kind: EventKind, engagement: Engagement | None) -> bool:
    if user.is_reviewer and not kind.is_for_customers:
        return False
    return engagement is None or Engagement.objects.visible_to(user).filter(
        pk=engagement.pk).exists()


def preferences(kind: EventKind, engagement: Engagement | None, users: list[User]
                ) -> dict[int, Preference]:
    """Each user's preference: the engagement's, else his general one, else the kind's own."""
    found = {user.pk: Preference(user=user, kind=kind.code, email=kind.email) for user in users}
    rows = Preference.objects.filter(user__in=users, kind=kind.code)
    general = [row for row in rows if row.engagement_id is None]
    special = [row for row in rows if engagement and row.engagement_id == engagement.pk]
    found.update({row.user_id: row for row in [*general, *special]})
    return found
