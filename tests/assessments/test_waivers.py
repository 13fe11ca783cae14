"""A waiver lets a gate pass and leaves the verdict as it is."""

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from assessments import queries, services
from assessments.models import Waiver
from assessments.services.waivers import revoke_waiver, sign_waiver
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.gates import evaluate
from engagements.models import Role
from tests.assessments.conftest import megatron_log
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
    def sign(actor=Role.MANAGER, days=30, reason="known rounding", scope="pilot only"):
        return sign_waiver(actor=people[actor], criterion=failed, reason=reason, scope=scope,
                           expires_on=timezone.localdate() + timedelta(days=days))
    return sign


def verdict_check(criterion):
    record = criterion.model.stages.get(stage=criterion.stage)
    return next(c for c in evaluate(record) if c.code == f"verdict:{criterion.pk}")


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


def test_what_a_waiver_needs(signed):
    for wrong in ({"days": -1}, {"reason": " "}, {"scope": ""}):
        with pytest.raises(InvalidInput):
            signed(**wrong)
    for role in (Role.CONSULTANT, Role.REVIEWER):
        with pytest.raises(NotAllowed):
            signed(actor=role)


def test_a_passed_or_unjudged_criterion_is_not_waived(criterion, people, model, store):
    fields = {"actor": people[Role.MANAGER], "criterion": criterion, "reason": "r", "scope": "s",
              "expires_on": timezone.localdate()}
    with pytest.raises(WrongState):
        sign_waiver(**fields)
    services.measure_file(actor=people[Role.CONSULTANT], model=model,
                          artifact=store("npu.log", megatron_log(GPU * 1.001), model))
    with pytest.raises(WrongState):
        sign_waiver(**fields)
