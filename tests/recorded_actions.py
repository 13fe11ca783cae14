"""Actions that the tests of a run recorded in the audit log, over all its processes.

After a whole run every action that the product counts on must be among them: one that nothing
records would leave an area out of the log, or an event that nobody is ever told.
"""

import pytest
from django.db.models.signals import post_save

from delivery.notices.event_kinds import KINDS
from engagements.models import AuditEntry

# What the log must cover in any case (DOMAIN AR-12), by area.
COVERED = {
    "definitions": {"definition.version"}, "thresholds": {"criteria.sign", "criterion.add"},
    "baselines": {"baseline.record"}, "gates": {"stage.pass", "stage.waive", "checklist.tick"},
    "documents": {"document.issue", "document.withdraw"},
    "approvals": {"document.review", "quote.approve"},
    "signing": {"document.sign", "review.decide", "review.receipt", "power.record"},
    "logins": {"user.login", "user.logout", "user.login_refused", "token.create"},
    "downloads": {"file.download"},
    "events": {kind.action for kind in KINDS.values() if kind.action},
}


class RecordedActions:
    """A plugin of the run; under xdist the workers hand theirs to the controller."""

    def __init__(self, is_whole_run: bool) -> None:
        self.is_whole_run, self.seen = is_whole_run, set()

    def pytest_sessionstart(self) -> None:
        post_save.connect(self.note, sender=AuditEntry)

    def note(self, instance: AuditEntry, **_rest) -> None:
        self.seen.add(instance.action)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node) -> None:
        self.seen |= set(getattr(node, "workeroutput", {}).get("actions", ()))

    def missing(self) -> dict[str, list[str]]:
        return {area: sorted(actions - self.seen) for area, actions in COVERED.items()
                if actions - self.seen}

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["actions"] = sorted(self.seen)
        elif self.is_whole_run and self.missing() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter) -> None:
        if self.is_whole_run and self.missing():
            terminalreporter.write_line(
                f"No test recorded these actions: {self.missing()}", red=True)
