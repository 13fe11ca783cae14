"""How many files a flow runs through, and that its walk names what follows the write."""

import pytest

from delivery.demo import flow_trace

# Files of the whole flow, and without those of followers alone.
MOST_FILES = {"queue_job": (34, 32), "issue_quote": (36, 27), "sign": (47, 37)}
NOTICES = "inbox, e-mail, chat and webhooks, after an audit entry"
SUMS = "sums of the portfolio's charts"
PLANS = "days of planned tasks by person, after the commit"
ROW, OF_ENGAGEMENT = "search words of the row", "search words of the engagement's rows"
FOLLOW_UPS = {
    "queue_job": [NOTICES],
    "issue_quote": [ROW, SUMS, NOTICES],
    "sign": ["summary of where the model stands", ROW, OF_ENGAGEMENT, SUMS, PLANS,
             NOTICES]}


@pytest.fixture
def mails(settings, tmp_path):
    """E-mails stay in a folder, where the flow finds the one-time code."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    settings.EMAIL_FILE_PATH = str(tmp_path / "mail")


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("flow", flow_trace.FLOWS)
def test_a_flow_runs_through_no_more_files(flow, mails, quick_files):
    walk = flow_trace.traced(flow)
    most, most_before_followers = MOST_FILES[flow]
    assert len(walk.files()) <= most, "\n".join(walk.files())
    assert len(walk.files_before_followers()) <= most_before_followers
    assert walk.follow_ups() == FOLLOW_UPS[flow]
    lines = list(walk.lines())
    assert sum("(follows the write" in line for line in lines) >= len(FOLLOW_UPS[flow])
    assert all(any(line.lstrip().startswith(f"{file}:") for line in lines)
               for file in walk.files())
