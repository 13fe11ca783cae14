"""The table of a survey's transitions, for every state, move and role."""

import pytest
from django.utils import timezone

from delivery.surveys import services
from delivery.surveys.models import Survey
from delivery.surveys.transitions import TRANSITIONS
from engagements.models import Role
from tests.transition_cases import check_coverage, check_state, grid

AGREED = grid("""
    draft: administrator manager consultant reviewer = submit
    submitted: administrator manager consultant = confirm reopen
    confirmed: administrator manager consultant = reopen
""")


@pytest.mark.parametrize("state", Survey.State.values)
def test_every_move_in_every_state_by_every_role(complete, people, state):
    Survey.objects.filter(pk=complete.pk).update(
        state=state, submitted_by=people[Role.REVIEWER], submitted_at=timezone.now(),
        confirmed_by=people[Role.CONSULTANT], confirmed_at=timezone.now())
    found = Survey.objects.get(pk=complete.pk)
    check_state(TRANSITIONS, AGREED, people, found, lambda person, row, move: (
        services.move_survey(actor=person, survey=row, move=move)), f"/api/v1/surveys/{found.pk}/")


def test_the_grid_names_every_move():
    check_coverage(TRANSITIONS, AGREED, Survey.State.values)
