"""The second approval of a change: whichever part fails, nothing of any part remains."""

import pytest
from django.apps import apps

from assessments import services as assessing
from delivery.documents.models import CompanyProfile
from delivery.planning.models import ChangeRequest, PriceEffect
from delivery.planning.services import changes, plans
from delivery.quotes import services as quoting
from delivery.quotes.models import DiscountLimit, Quote
from delivery.quotes.services import agreed_versions as agreeing
from engagements.audit import audit_log
from engagements.errors import DeskError
from engagements.models import Role


def everything() -> dict[str, list]:
    """Every stored row of every table of ours."""
    return {model._meta.label: sorted(map(str, model._default_manager.values_list()))
            for model in apps.get_models() if model._meta.app_label in (
                "engagements", "workers", "assessments", "quotes", "reports", "planning",
                "notices")}


def breaking_last(module, name):
    """The part does all its work and then fails."""
    def patch(monkeypatch):
        real = getattr(module, name)

        def fail(*args, **kwargs):
            real(*args, **kwargs)
            raise RuntimeError(name)

        monkeypatch.setattr(module, name, fail)
    return patch


PARTS = {
    "criteria drafted": breaking_last(assessing, "draft_criteria"),
    "criteria replaced": breaking_last(assessing, "add_criterion"),
    "criteria signed": breaking_last(assessing, "sign_criteria"),
    "task changed": breaking_last(plans, "update_task"),
    "baseline taken": breaking_last(plans, "take_baseline"),
    "quote copied": breaking_last(agreeing, "copy_version"),
    "quote frozen": breaking_last(agreeing, "freeze"),
    "older quote superseded": breaking_last(agreeing, "supersede_older"),
    "quote agreed": breaking_last(quoting, "agree_on_version"),
    "effects kept": breaking_last(changes, "apply_effects"),
}


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_nothing_remains_of_a_part_that_fails(people, change, monkeypatch, part):
    changes.approve_change(actor=people[Role.MANAGER], change=change)
    before = everything()
    with monkeypatch.context() as patched:
        PARTS[part](patched)
        with pytest.raises(RuntimeError):
            changes.approve_change(actor=people[Role.REVIEWER], change=change)
    assert everything() == before
    assert list(audit_log.findings()) == []
    done = changes.approve_change(actor=people[Role.REVIEWER], change=change)
    assert done.state == ChangeRequest.State.APPLIED


def no_particulars(engagement):
    CompanyProfile.objects.all().delete()


def no_price_limit(engagement):
    Quote.objects.update(discount_rate="0.08", discount_reason="x")
    DiscountLimit.objects.update(rate=0)


def other_totals(engagement):
    PriceEffect.objects.filter(action="change").update(quantity=9)


def circle(engagement):
    """A task that would last beyond what a plan may."""
    engagement.plan.tasks.exclude(stage="survey").update(days=500)


@pytest.mark.parametrize("breaking", [no_particulars, no_price_limit, other_totals, circle])
def test_nothing_remains_where_a_rule_stops_it(people, agreed, change, breaking):
    changes.approve_change(actor=people[Role.MANAGER], change=change)
    breaking(agreed)
    before = everything()
    with pytest.raises(DeskError):
        changes.approve_change(actor=people[Role.REVIEWER], change=change)
    assert everything() == before
