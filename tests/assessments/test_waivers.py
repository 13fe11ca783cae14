"""A waiver lets a gate pass and leaves the verdict as it is."""

from datetime import timedelta
from decimal import Decimal

import numpy as np
import pytest
from django.utils import timezone

from assessments import queries, services
from assessments.models import CriteriaSet, Waiver
from assessments.services.waivers import draft_waiver, revoke_waiver, sign_waiver
from delivery.notices.models import Event
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.gates import evaluate
from engagements.models import Role
from tests.assessments.conftest import megatron_log
from tests.assessments.conftest import signed as signed_by_both
from tests.cached_fixtures import cached_fixture

GPU = np.linspace(4, 2, 200)


@pytest.fixture
@cached_fixture
def failed(criterion, people, model, store):
    services.measure_file(actor=people[Role.CONSULTANT], model=model,
                          artifact=store("npu.log", megatron_log(GPU * 1.03), model))
    return criterion


@pytest.fixture
def signed(failed, people):
    def sign(author=Role.CONSULTANT, days=30, reason="known rounding", scope="pilot only"):
        draft = draft_waiver(actor=people[author], criterion=failed, reason=reason, scope=scope,
                             expires_on=timezone.localdate() + timedelta(days=days))
        return sign_waiver(actor=people[Role.MANAGER], waiver=draft)
    return sign


def verdict_check(criterion):
    record = criterion.model.stages.get(stage=criterion.stage)
    return next(c for c in evaluate(record) if c.code == f"verdict:{criterion.pk}")


def test_a_drafted_waiver_calls_those_who_may_sign_it(failed, people):
    draft_waiver(actor=people[Role.CONSULTANT], criterion=failed, reason="x", scope="y",
                 expires_on=timezone.localdate())
    event = Event.objects.get(kind="verdict_waiver_drafted")
    assert event.path == f"/criteria/{failed.pk}/"
    assert people[Role.MANAGER] in {notice.recipient for notice in event.notices.all()}


def test_the_gate_passes_and_says_so(failed, signed):
    assert not verdict_check(failed).is_met
    signed()
    check = verdict_check(failed)
    assert check.is_met
    assert "known rounding" in check.sentence
    assert queries.newest_verdict(failed).outcome == "failed"


def test_an_expired_or_revoked_waiver_no_longer_counts(failed, signed, people):
    waiver = signed()
    Waiver.objects.update(expires_on=timezone.localdate() - timedelta(days=1))
    assert not verdict_check(failed).is_met
    Waiver.objects.update(expires_on=timezone.localdate())
    assert verdict_check(failed).is_met
    revoke_waiver(actor=people[Role.MANAGER], waiver=waiver)
    assert not verdict_check(failed).is_met
    with pytest.raises(WrongState):
        revoke_waiver(actor=people[Role.MANAGER], waiver=waiver)


def test_an_expired_waiver_makes_way_for_a_new_one(signed):
    signed()
    with pytest.raises(WrongState):
        signed()
    Waiver.objects.update(expires_on=timezone.localdate() - timedelta(days=1))
    signed()
    assert Waiver.objects.filter(revoked_at=None).count() == 1


def test_a_draft_is_signed_once_by_a_manager_and_for_the_verdict_it_saw(failed, people, store):
    def draft():
        return draft_waiver(actor=people[Role.CONSULTANT], criterion=failed, reason="r", scope="s",
                            expires_on=timezone.localdate())
    first = draft()
    with pytest.raises(NotAllowed):
        sign_waiver(actor=people[Role.CONSULTANT], waiver=first)
    waiver = draft()  # takes the place of the first
    with pytest.raises(WrongState):
        sign_waiver(actor=people[Role.MANAGER], waiver=first)
    services.measure_file(actor=people[Role.CONSULTANT], model=failed.model,
                          artifact=store("npu2.log", megatron_log(GPU * 1.04), failed.model))
    with pytest.raises(WrongState):
        sign_waiver(actor=people[Role.MANAGER], waiver=waiver)
    signed = sign_waiver(actor=people[Role.MANAGER], waiver=draft())
    assert (signed.drafted_by, signed.signed_by) == (
        people[Role.CONSULTANT], people[Role.MANAGER])
    with pytest.raises(WrongState):
        sign_waiver(actor=people[Role.ADMINISTRATOR], waiver=signed)


def test_what_a_waiver_needs(signed):
    for wrong in ({"days": -1}, {"reason": " "}, {"scope": ""}):
        with pytest.raises(InvalidInput):
            signed(**wrong)
    for author in (Role.SALES, Role.REVIEWER, Role.MANAGER):  # a manager does not sign his own
        with pytest.raises(NotAllowed):
            signed(author=author)


def test_a_passed_or_unjudged_criterion_is_not_waived(criterion, people, model, store):
    fields = {"actor": people[Role.MANAGER], "criterion": criterion, "reason": "r", "scope": "s",
              "expires_on": timezone.localdate()}
    with pytest.raises(WrongState):
        draft_waiver(**fields)
    services.measure_file(actor=people[Role.CONSULTANT], model=model,
                          artifact=store("npu.log", megatron_log(GPU * 1.001), model))
    with pytest.raises(WrongState):
        draft_waiver(**fields)


def earlier(criterion, stage) -> list[str]:
    record = criterion.model.stages.get(stage=stage)
    return [c.sentence for c in evaluate(record) if c.code == f"earlier_verdict:{criterion.pk}"]


def tightened(people, criterion, threshold):
    """A new signed version of the criteria with another threshold, as a change brings it."""
    manager = people[Role.MANAGER]
    draft = services.draft_criteria(actor=manager, engagement=criterion.criteria_set.engagement)
    services.remove_criterion(actor=manager, criterion=draft.criteria.get())
    row = services.add_criterion(
        actor=manager, criteria_set=draft, model=criterion.model, stage=criterion.stage,
        definition=criterion.definition, threshold=threshold, baseline=criterion.baseline)
    signed_by_both(people, draft)
    return row


@pytest.mark.slow
def test_a_criterion_tightened_after_its_stage_passed_stops_the_later_ones(people, criterion,
                                                                          model, store):
    services.measure_file(actor=people[Role.CONSULTANT], model=model,
                          artifact=store("npu.log", megatron_log(GPU * 1.01), model))
    engagement = criterion.criteria_set.engagement
    model.stages.filter(stage="train_tune").update(state="passed", passed_at=timezone.now())
    assert queries.failed_signed_criteria(engagement) == []
    row = tightened(people, criterion, Decimal("0.005"))
    verdict = queries.newest_verdict(row)
    assert queries.failed_signed_criteria(engagement) == [(row, verdict)]
    assert queries.failed_signed_criteria(engagement, model) == [(row, verdict)]
    for stage in ("infer_migrate", "infer_tune"):
        assert earlier(row, stage) == [queries.verdict_sentence(row, verdict)]
    assert earlier(row, "design") == earlier(row, "train_tune") == earlier(row, "accept") == []
    assert [c.is_met for c in evaluate(model.stages.get(stage="accept"))
            if c.code == f"verdict:{row.pk}"] == [False]
    waiver = draft_waiver(actor=people[Role.MANAGER], criterion=row, reason="agreed",
                          scope="pilot", expires_on=timezone.localdate())
    assert queries.failed_signed_criteria(engagement) == [(row, verdict)]  # not signed yet
    sign_waiver(actor=people[Role.ADMINISTRATOR], waiver=waiver)
    assert (queries.failed_signed_criteria(engagement), earlier(row, "infer_tune")) == ([], [])
    revoke_waiver(actor=people[Role.MANAGER], waiver=waiver)
    assert queries.failed_signed_criteria(engagement) == [(row, verdict)]


def test_drafts_and_other_outcomes_do_not_count_as_failed(people, criterion, model, store):
    engagement = criterion.criteria_set.engagement
    assert queries.failed_signed_criteria(engagement) == []  # nothing is measured
    services.measure_file(actor=people[Role.CONSULTANT], model=model,
                          artifact=store("short.log", megatron_log(GPU[:20]), model))
    assert queries.newest_verdict(criterion).outcome == "not_provable"
    assert queries.failed_signed_criteria(engagement) == []
    CriteriaSet.objects.update(state="draft")
    assert queries.failed_signed_criteria(engagement) == []
