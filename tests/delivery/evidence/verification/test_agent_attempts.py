"""Agents, honest, careless and hostile: none brings about what it must not, and what is honest is
done."""

import random

import pytest

from benchmarks import agents, attempts


@pytest.mark.slow
@pytest.mark.django_db
def test_no_agent_passes_a_criterion_decides_or_doubles_a_job(people, engagement):
    here, found = attempts.world(people, engagement), {}
    for kind in agents.KINDS:
        wrong, answers = agents.attempt(here, kind, random.Random(1))
        found[kind] = (wrong, sum(n for status, n in answers.items() if status < 400))
    assert {kind: wrong for kind, (wrong, _done) in found.items() if wrong} == {}
    assert [kind for kind, (_wrong, done) in found.items() if not done and agents.KINDS[kind][0]
            != agents.HOSTILE] == []


@pytest.mark.slow
@pytest.mark.django_db
def test_what_must_not_be_is_seen(people, engagement):
    """The same acts by people: a doubled job, a decision, a criterion that passes."""
    here = attempts.world(people, engagement)

    def decides(agent, _chance):
        from assessments.models import Verdict
        from engagements.audit import audit_log

        Verdict.objects.filter(criterion=here.criterion).update(outcome="passed")
        audit_log.record(actor=here.people["manager"], action="criteria.sign",
                         target=here.criterion.criteria_set, engagement=here.engagement)
        attempts._delete_run(here)

    kinds = {"decide": ("hostile", 1, decides)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agents, "KINDS", kinds)
        wrong, _answers = agents.attempt(here, "decide", random.Random(1))
    assert wrong == {agents.FALSE_PASS, agents.FORBIDDEN}
