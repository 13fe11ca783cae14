"""Conditions sent back and reopened, issues of the trial run, claims with files: who did what
stands in the history, and the papers follow."""

import re
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from delivery.acceptance import services
from delivery.acceptance.models import Condition, FollowUp, WarrantyClaim
from delivery.next_steps.inbox import inbox_items
from delivery.notices.models import Notice
from delivery.planning.models import ProjectIssue
from delivery.reports.facts.source import Source
from delivery.reports.facts.trial_run import closure, trial
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Membership, Role
from tests.cached_fixtures import cached_fixture
from tests.delivery.acceptance.test_scan_validation import picture
from tests.delivery.review_steps import SOON
from tests.refused_forms import refuse_every_form, untold
from workers.models import Job

LATER = timezone.localdate() + timedelta(days=60)


def shot() -> SimpleUploadedFile:
    return SimpleUploadedFile("截图.png", picture())


@pytest.fixture
@cached_fixture
def trial_run(act, delivered):
    """A provisional acceptance, signed with a condition; its trial run goes on."""
    services.set_terms(actor=act.manager, engagement=delivered, has_preliminary=True,
                       trial_days=30, warranty_months=12)
    review = act.open(delivered, kind="PA")
    act.decide(review, "conditional", conditions=[
        {"description": "补充运维手册", "owner": "周启明", "due_on": SOON}])
    act.sign(review)
    return review


@pytest.fixture
def condition(trial_run):
    return trial_run.conditions.get()


def steps(**about) -> list[tuple[str, str]]:
    return [(row.step, row.text) for row in FollowUp.objects.filter(**about)]


def heard(user, kind: str) -> int:
    return Notice.objects.filter(recipient=user, event__kind=kind).count()


@pytest.mark.slow
def test_a_condition_is_sent_back_closed_and_reopened(condition, act, client, people):
    consultant = people[Role.CONSULTANT]
    with pytest.raises(WrongState):
        services.send_back_condition(actor=act.reviewer, condition=condition, text="缺附录")
    services.report_condition(actor=consultant, condition=condition, report="已补充", file=shot())
    with pytest.raises(NotAllowed):
        services.send_back_condition(actor=consultant, condition=condition, text="x")
    client.force_login(act.reviewer)
    url = f"/review-issues/{condition.pk}/"
    client.post(url + "send-back/", {"text": " "})
    condition.refresh_from_db()
    assert condition.reported_at  # nothing said: nothing happens
    client.post(url + "send-back/", {"text": "缺附录 B", "due_on": f"{LATER}", "file": shot()})
    condition.refresh_from_db()
    assert (condition.reported_at, condition.due_on) == (None, LATER)
    services.report_condition(actor=consultant, condition=condition, report="附录 B 已补")
    client.post(url + "close/")
    with pytest.raises(WrongState):
        services.send_back_condition(actor=act.reviewer, condition=condition, text="x")
    client.post(url + "reopen/", {"text": "附录 B 是旧版"})
    condition.refresh_from_db()
    assert condition.closed_at is None
    assert steps(condition=condition) == [
        ("reported", "已补充"), ("sent_back", "缺附录 B"), ("reported", "附录 B 已补"),
        ("closed", ""), ("reopened", "附录 B 是旧版")]
    assert (heard(consultant, "issue_sent_back"), heard(consultant, "issue_reopened")) == (1, 1)
    page = client.get(f"/documents/{condition.review.document_id}/review/").content.decode()
    for words in ("缺附录 B", "附录 B 是旧版", "截图.png"):
        assert words in page, words


def test_what_is_closed_changes_the_papers(condition, act, trial_run):
    source = Source(trial_run.document)
    assert closure(source)["rows"][0][6] == ""
    services.report_condition(actor=act.manager, condition=condition, report="已补充")
    services.close_condition(actor=act.reviewer, condition=condition)
    assert closure(source)["rows"][0][6:8] == ["已补充", f"{timezone.localdate()}"]


def test_an_issue_of_the_trial_run(trial_run, act, client, people, stranger):
    engagement, consultant = trial_run.engagement, people[Role.CONSULTANT]
    url = f"/engagements/{engagement.code}/trial-issues/"
    client.force_login(act.reviewer)
    refused = client.post(url, {"description": "夜间推理偶发超时"})
    assert (refused.status_code, ProjectIssue.objects.count()) == (400, 0)  # no default severity
    client.post(url, {"description": "夜间推理偶发超时", "level": "blocking", "file": shot()})
    issue = ProjectIssue.objects.get()
    assert (issue.level, issue.affects_final, issue.owner) == ("blocking", True, act.manager)
    assert heard(consultant, "trial_issue") == 1
    services.comment_issue(actor=consultant, issue=issue, text="已定位：连接池过小")
    page = client.get(f"/engagements/{engagement.code}/warranty/").content.decode()
    for words in ("夜间推理偶发超时", "连接池过小", "截图.png", f"{trial_run.trial_ends_on}"):
        assert words in page, words
    assert trial(Source(trial_run.document))["rows"][0][4:] == ["1", "1", "30"]
    client.post(f"/trial-issues/{issue.pk}/resolve/")
    assert trial(Source(trial_run.document))["rows"][0][4:] == ["1", "0", "30"]
    with pytest.raises(WrongState):
        services.resolve_issue(actor=act.reviewer, issue=issue)
    file = issue.history.first()
    assert client.get(f"/follow-ups/{file.pk}/file/").status_code == 200
    client.force_login(stranger)
    assert client.get(f"/follow-ups/{file.pk}/file/").status_code == 404


@pytest.mark.slow
def test_a_claim_is_taken_sent_back_and_taken_over(delivered, act, client, people, stranger):
    consultant = people[Role.CONSULTANT]
    services.set_terms(actor=act.manager, engagement=delivered, warranty_months=12)
    review = act.open(delivered)
    act.decide(review)
    act.sign(review)
    claim = services.raise_claim(actor=act.reviewer, engagement=delivered, file=shot(),
                                 description="推理进程崩溃", found_on=timezone.localdate())
    url = f"/warranty-claims/{claim.pk}/"
    for user, owner in ((consultant, consultant), (act.manager, act.manager)):
        client.force_login(user)
        client.post(url + "take/")
        claim.refresh_from_db()
        assert claim.owner == owner
    client.force_login(act.reviewer)
    client.post(url + "take/")  # not the customer's to do
    client.post(url + "send-back/", {"text": "仍崩溃"})  # nothing is reported yet
    claim.refresh_from_db()
    assert (claim.owner, steps(claim=claim)) == (act.manager, [("raised", "推理进程崩溃")])
    run = Job.objects.create(kind="env.npu_info", engagement=delivered, state="succeeded",
                             created_by=consultant, finished_at=timezone.now())
    services.report_repair(actor=consultant, claim=claim, report="已升级驱动", regression=run)
    client.post(url + "send-back/", {"text": " "})
    claim.refresh_from_db()
    assert claim.reported_at  # nothing said: nothing happens
    client.post(url + "send-back/", {"text": "仍崩溃", "file": shot()})
    claim.refresh_from_db()
    assert (claim.report, claim.regression, claim.reported_at, claim.closed_at) == (
        "", None, None, None)
    page = client.get(f"/engagements/{delivered.code}/warranty/").content.decode()
    for words in ("仍崩溃", "截图.png", f"{act.manager}"):
        assert words in page, words
    client.force_login(stranger)
    assert client.post(url + "take/").status_code == 404


@pytest.mark.slow
def test_a_refused_step_says_why_at_its_row_and_keeps_what_was_typed(
        trial_run, condition, act, client, monkeypatch):
    engagement, typed = trial_run.engagement, "缺附录 B 与签字页"
    issue = services.report_trial_issue(actor=act.reviewer, engagement=engagement, level="minor",
                                        description="夜间推理偶发超时")
    claim, done = (WarrantyClaim.objects.create(
        engagement=engagement, number=number, description="推理进程崩溃", is_covered=True,
        found_on=timezone.localdate(), raised_by=act.reviewer) for number in (1, 2))
    run = Job.objects.create(kind="env.npu_info", engagement=engagement, state="succeeded",
                             created_by=act.manager, finished_at=timezone.now())
    services.report_condition(actor=act.manager, condition=condition, report="已补充")
    services.report_repair(actor=act.manager, claim=done, report="已升级", regression=run)
    to_confirm, closed = f"/review-issues/{condition.pk}/", timezone.now()
    asked = [(act.reviewer, f"{to_confirm}send-back/", True),
             (act.reviewer, f"{to_confirm}close/", False),
             (act.manager, f"{to_confirm}report/", True),
             (act.reviewer, f"{to_confirm}reopen/", True),
             (act.reviewer, f"/trial-issues/{issue.pk}/comment/", True),
             (act.reviewer, f"/trial-issues/{issue.pk}/resolve/", False),
             (act.manager, f"/warranty-claims/{claim.pk}/take/", False),
             (act.manager, f"/warranty-claims/{claim.pk}/repair/", True),
             (act.reviewer, f"/warranty-claims/{done.pk}/send-back/", True),
             (act.reviewer, f"/warranty-claims/{done.pk}/close/", False)]
    refused = refuse_every_form(monkeypatch)
    for user, path, is_kept in asked:
        if path.endswith("reopen/"):
            Condition.objects.update(closed_at=closed, closed_by=act.reviewer)
        client.force_login(user)
        refused.clear()
        answer = client.post(path, {"text": typed, "report": typed, "due_on": f"{LATER}"})
        page = answer.content.decode()
        row = path.split("/")[2]
        about = {"review-issues": "condition", "trial-issues": "issue"}.get(
            path.split("/")[1], "claim")
        at = page.index(f'id="{about}-{row}"')
        assert (path, answer.status_code, untold(answer, refused)) == (path, 400, set())
        assert at < page.index("Refused by this test.")
        assert (f">{typed}</textarea>" in page or f'value="{typed}"' in page) == is_kept, path
        if about == "condition" and is_kept and user == act.reviewer:
            assert f'value="{LATER}"' in page


def test_a_step_that_came_too_late_is_told_at_its_row(condition, act, client):
    """Whoever sends back what a colleague has closed meanwhile."""
    services.report_condition(actor=act.manager, condition=condition, report="已补充")
    services.close_condition(actor=act.reviewer, condition=condition)
    client.force_login(act.reviewer)
    answer = client.post(f"/review-issues/{condition.pk}/send-back/", {"text": "缺附录"},
                         HTTP_ACCEPT_LANGUAGE="en")
    row = answer.content.decode().split(f'id="condition-{condition.pk}"')[1]
    assert answer.status_code == 400
    assert 'role="alert"' in row[:row.index("The team has not yet reported what was done.")]


def test_without_a_trial_run_nothing_is_reported(delivered, act):
    with pytest.raises(WrongState):
        services.report_trial_issue(actor=act.reviewer, engagement=delivered, description="x",
                                    level="minor")


def test_the_team_s_own_issues_stay_its_own(trial_run, act, client):
    own = ProjectIssue.objects.create(
        engagement=trial_run.engagement, number=7, description="内部事项", level="minor",
        raised_on=timezone.localdate(), due_on=SOON, owner=act.manager)
    client.force_login(act.reviewer)
    assert "内部事项" not in client.get(
        f"/engagements/{trial_run.engagement.code}/warranty/").content.decode()
    assert client.post(f"/trial-issues/{own.pk}/resolve/").status_code == 404
    with pytest.raises(InvalidInput):
        services.resolve_issue(actor=act.reviewer, issue=own)


@pytest.mark.slow
def test_who_replaces_a_colleagues_decision_tells_him(review, act, delivered, client):
    second = act.colleague(delivered, "zhao")
    act.decide(review)
    act.decide(review, "rejected", actor=act.reviewer, reason="未测")  # his own
    assert heard(act.reviewer, "decision_replaced") == 0
    client.force_login(second)
    url = f"/documents/{review.document_id}/review/"
    assert client.get(url).context["replaced_decisions"] == []
    act.decide(review, actor=second)
    assert heard(act.reviewer, "decision_replaced") == 1
    for user in (second, act.manager):  # and whoever reads the review sees whose it was
        client.force_login(user)
        page = client.get(url, HTTP_ACCEPT_LANGUAGE="en").content.decode()
        history = page[page.index('id="replaced-decisions"'):].split("</div></div></div>")[0]
        assert re.findall(r"bg-(\w+)-lt", history) == ["red"]
        for words in ("Failed", f"{act.reviewer}", "未测", f"replaced by {second}: Passed"):
            assert words in history, words


@pytest.mark.slow
def test_a_condition_is_its_owner_s_until_he_leaves(delivered, people, act):
    """The customer's owner reports it himself; of who left the managers have it."""
    review = act.open(delivered)
    row = {"description": "提供数据集", "owner_user": act.reviewer.username, "due_on": SOON}
    with pytest.raises(InvalidInput):
        act.decide(review, "conditional", conditions=[{**row, "owner_user": "nobody"}])
    other = act.colleague(delivered, "zhao")
    act.decide(review, "conditional", conditions=[
        row, {**row, "description": "补手册", "owner_user": people[Role.CONSULTANT].username},
        {**row, "description": "验收场地", "owner_user": "", "owner": "机房"}])
    assert review.conditions.get(description="补手册").owner == "Consultant"

    def holds(user) -> set[str]:
        return {item.title for item in inbox_items(user) if item.kind == "condition"}

    assert holds(act.reviewer) == {"提供数据集"}
    assert holds(people[Role.CONSULTANT]) == {"补手册"}
    assert holds(act.manager) == {"验收场地"}
    assert holds(other) == set()
    Membership.objects.filter(engagement=delivered, user=people[Role.CONSULTANT]).delete()
    assert holds(act.manager) == {"补手册", "验收场地"}
    mine = review.conditions.get(description="提供数据集")
    with pytest.raises(NotAllowed):
        services.report_condition(actor=other, condition=mine, report="好了")
    services.report_condition(actor=act.reviewer, condition=mine, report="好了")
    assert holds(other) == {"提供数据集"}  # to be confirmed
