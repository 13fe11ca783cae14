"""Readers of an issued document hear of a verdict that turned after it."""

import pytest

from assessments import services as assessing
from delivery.notices.models import Notice
from delivery.reports import services as reporting
from engagements.models import AuditEntry, Role
from tests.delivery.conftest import loss_log, stored
from tests.document_steps import issued_document


@pytest.mark.slow
def test_a_verdict_that_turns_after_the_issue_is_told_once(delivered, people, renderer):
    document = issued_document(reporting.draft_test_report(
        actor=people[Role.MANAGER], engagement=delivered), people)
    llm = delivered.models.get(code="LLM")

    def judge(scale):
        assessing.measure_file(actor=people[Role.CONSULTANT], model=llm, artifact=stored(
            delivered, llm, f"again-{scale}.csv", loss_log(scale=scale)))

    judge(1.005)  # passed as the report says
    assert not AuditEntry.objects.filter(action="document.overtaken").exists()
    judge(1.1)
    judge(1.2)  # failed as before
    told = AuditEntry.objects.filter(action="document.overtaken", target_id=str(document.pk))
    assert sorted(entry.data["criterion"].partition(" v")[0] for entry in told) == [
        "LLM · loss_every_step", "LLM · loss_mean_relative_error"]
    assert {(entry.data["stated"], entry.data["now"]) for entry in told} == {
        ("passed", "failed")}
    assert Notice.objects.filter(event__kind="report_overtaken",
                                 recipient=people[Role.REVIEWER]).count() == 2
    failed = Notice.objects.filter(event__kind="verdict_failed").first()
    assert failed.event.subject.startswith("LLM · loss_")
