"""Trial run and closure of the provisional acceptance in the final certificate (DOMAIN 9.9)."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.translation import override

from delivery.acceptance import services as accepting
from delivery.acceptance.models import Review
from delivery.documents.bilingual import in_language
from delivery.planning.services import control
from delivery.reports import services
from delivery.reports.issue_checks.checks import problems_of
from delivery.reports.models import Document
from engagements.models import Role
from tests.cached_fixtures import cached_fixture
from tests.delivery.review_steps import SOON

ISSUE = {"description": "PSR 未测", "owner": "周启明", "due_on": SOON, "model": "PSR"}


@pytest.fixture
@cached_fixture
def tried(delivered, act):
    """A provisional acceptance under one condition began ten days of trial."""
    accepting.set_terms(actor=act.manager, engagement=delivered, has_preliminary=True,
                        trial_days=10)
    review = act.open(delivered, "PA")
    act.decide(review, "conditional", conditions=[ISSUE])
    act.sign(review)
    return Review.objects.get(pk=review.pk)


def draft(engagement, people) -> Document:
    return services.draft_document(actor=people[Role.MANAGER], engagement=engagement, kind="FA")


def tables(document) -> dict:
    return in_language(document.snapshot, "en")["tables"]


def sentences(document) -> list[str]:
    with override("en"):
        return [problem.sentence for problem in problems_of(document)]


def test_dates_issues_and_open_conditions_of_the_trial_run(delivered, people, tried):
    today = timezone.localdate()
    control.add_issue(actor=people[Role.MANAGER], engagement=delivered, description="日志缺失",
                      level="minor", raised_on=today, due_on=today, owner=people[Role.CONSULTANT],
                      affects_final=True)
    found = tables(draft(delivered, people))
    assert found["trial"]["rows"] == [[
        tried.document.number, "Passed with conditions", f"{today}",
        f"{today + timedelta(days=10)}", "1", "1", "10"]]
    assert found["closure"]["rows"] == [[
        "1", "PSR 未测", "PSR", "周启明", f"{SOON}", "closed before the final acceptance", "",
        "open", ""], [
        "1", "I-001 日志缺失", "–", str(people[Role.CONSULTANT]), f"{today}",
        "closed before the final acceptance", "", "open", ""]]
    assert found["issues"]["rows"][0][-1] == "yes"


def test_a_trial_of_no_day_is_no_trial(delivered, people, tried):
    Review.objects.filter(pk=tried.pk).update(trial_ends_on=timezone.localdate())
    assert tables(draft(delivered, people))["trial"]["rows"][0][-1] == (
        "0 – There was no trial run.")


@pytest.mark.slow
def test_a_trial_run_is_told_before_the_certificate_is_issued(delivered, people, tried, act):
    document = draft(delivered, people)
    assert "Write the result of the trial run." in sentences(document)
    document = services.write_words(actor=people[Role.MANAGER], document=document,
                                    words={"fa_trial": {"zh": "连续运行十天", "en": "Ten days"}})
    assert sentences(document) == []
    condition = tried.conditions.get()
    accepting.report_condition(actor=act.manager, condition=condition, report="补测")
    accepting.close_condition(actor=act.reviewer, condition=condition)
    assert sentences(document) == [
        "Table “Issues of the provisional acceptance” no longer matches the records; refresh the "
        "data."]
    document = services.refresh_draft(actor=people[Role.MANAGER], document=document)
    assert sentences(document) == []
    row = tables(document)["closure"]["rows"][0]
    assert row[-3:] == ["补测", f"{timezone.localdate()}", str(act.reviewer)]


@pytest.mark.slow
def test_without_a_trial_run_nothing_is_asked(delivered, people):
    document = draft(delivered, people)
    assert (sentences(document), tables(document)["trial"]["rows"]) == ([], [])
