"""Nothing follows a write but what the table of followers says."""

import inspect
from weakref import ref

from django.core.management import call_command
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_delete, pre_save

from assessments.services import measurements
from delivery.followers import FOLLOWERS, by_code
from delivery.planning.signals import change_applied
from delivery.quotes.signals import quote_accepted, quote_approved
from delivery.reports.signals import document_issued, document_replaced
from engagements.audit_rows import tracking
from engagements.signals import (
    engagement_cancelled,
    engagement_reopened,
    model_added,
    model_dropped,
)
from workers.signals import job_succeeded, job_unproven, purpose_corrected, reading_stored

PRODUCT = ("engagements", "workers", "assessments", "delivery")
SIGNALS = (pre_save, post_save, pre_delete, post_delete, m2m_changed, job_succeeded,
           job_unproven, purpose_corrected, reading_stored, document_issued, document_replaced,
           model_added, model_dropped, engagement_cancelled, engagement_reopened, quote_accepted,
           quote_approved, change_applied)


def _receivers(signal):
    for _key, receiver, *_rest in signal.receivers:
        found = receiver() if isinstance(receiver, ref) else receiver
        if found and found.__module__.partition(".")[0] in PRODUCT:
            yield inspect.unwrap(found)


def test_everything_that_follows_a_write_stands_in_the_table():
    listeners = [found for each in tracking._listeners.values() for found in each]
    following = {found.__code__ for found in [
        *listeners, *(found for signal in SIGNALS for found in _receivers(signal))]}
    of_the_log = {tracking._row_given.__code__, tracking._row_written.__code__}
    assert following - of_the_log == by_code().keys()


def test_the_table_is_printed(capsys):
    call_command("trace")
    lines = capsys.readouterr().out.splitlines()
    assert lines == [str(follower) for follower in FOLLOWERS]
    assert ("measurements and verdicts, after a job succeeded: "
            f"{measurements.__name__}.measure_job") in lines
