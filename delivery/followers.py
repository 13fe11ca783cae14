"""What follows a write unasked, in its transaction: one table, connected when Django starts.

Beside these the audit log notices every write of a tracked row and refuses secrets in its texts
(`engagements.audit_rows`), and what a service enqueues runs after the commit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType

from django.db.models import Model
from django.db.models.signals import post_delete, post_save
from django.dispatch import Signal

from assessments.models import CriteriaSet, Verdict
from assessments.services import comparisons, measurements
from delivery.acceptance import certificates
from delivery.acceptance.models import WarrantyClaim
from delivery.agreement import services as agreements
from delivery.knowledge.models import SolvedCase
from delivery.notices.services import announcements
from delivery.planning.models import Risk
from delivery.planning.people import planned_tasks
from delivery.planning.signals import change_applied
from delivery.portal import chart_figures
from delivery.quotes.models import Quote
from delivery.quotes.services import moves as quote_moves
from delivery.quotes.signals import quote_accepted, quote_approved
from delivery.reports import registry
from delivery.reports.models import Document
from delivery.reports.services import approvals, overtaken
from delivery.reports.signals import document_issued, document_replaced
from engagements import model_progress, search_index
from engagements.audit_rows.tracking import on_rows_written
from engagements.models import AuditEntry, Customer, Engagement, MigratedModel, User
from engagements.search_index import OF_ENGAGEMENT, Indexed, of_engagement
from engagements.signals import (
    engagement_cancelled,
    engagement_reopened,
    model_added,
    model_dropped,
)
from workers.models import CardAlarm, Node, NodeContact, NodeReservation
from workers.signals import job_succeeded, job_unproven, purpose_corrected, reading_stored

FOUND_BY_WORDS = (
    Indexed(Customer, ("name", "name_en"), None),
    Indexed(Engagement, OF_ENGAGEMENT, "pk"),
    Indexed(MigratedModel, ("code", "name", "name_en", "task", "framework",
                            *of_engagement("code", "name", "name_en")), "engagement"),
    Indexed(Node, ("name", "host"), None),
    Indexed(Quote, ("number", "subject", *of_engagement()), "engagement"),
    Indexed(Document, ("number", *of_engagement()), "engagement",
            lambda document: [document.kind, *registry.titles_of(document.kind)]),
    Indexed(Risk, ("title", "title_en", *of_engagement("code")), "engagement"),
    Indexed(WarrantyClaim, ("description", *of_engagement("code")), "engagement"),
    Indexed(User, ("username", "full_name", "full_name_en"), None),
    Indexed(SolvedCase, ("title", "error_code", "operator", "log_pattern", "cause", "cure"), None),
)


def _go_on_with_chain(*, job, **_signal) -> None:
    from workers.services import (
        chains,  # brings the SSH library, which every command would wait for
    )

    chains.go_on(job)


def _cancel_jobs(*, actor, model=None, engagement=None, **_signal) -> None:
    from workers.services import jobs

    owner = {"model": model} if model else {"engagement": engagement}
    jobs.cancel_jobs_of(actor=actor, **owner)


def _approve_estimate(*, quote, actor, **_signal) -> None:
    from delivery.planning.services import estimates

    estimates.approve_with_quote(quote=quote, actor=actor)


def _withdraw_timesheets(*, engagement, actor, **_signal) -> None:
    from delivery.planning.services import timesheets  # brings the SSH library, too

    timesheets.withdraw_unanswered(engagement=engagement, actor=actor)


@dataclass(frozen=True)
class Follower:
    """`does` follows each write of a row of `tables`.

    Without a signal the tables are tracked ones, and it is given table and keys after single and
    bulk writes; with one it receives that, from these tables as senders or, without, from anybody.
    """

    what: str
    does: Callable
    tables: tuple[type[Model], ...] = ()
    signal: Signal | None = None

    def __str__(self) -> str:
        tables = ", ".join(table.__name__ for table in self.tables)
        return f"{self.what}: {self.does.__module__}.{self.does.__name__}" + (
            f" ({tables})" if tables else "")


FOLLOWERS = (
    Follower("summary of where the model stands", model_progress.rows_written,
             tuple(model_progress.PATHS)),
    Follower("search words of the row", search_index.refresh,
             tuple(indexed.table for indexed in FOUND_BY_WORDS)),
    Follower("search words of the engagement's rows", search_index.refresh_rows_of_engagements,
             (Engagement,)),
    Follower("search words of the customer's engagements", search_index.refresh_rows_of_customers,
             (Customer,)),
    Follower("sums of the portfolio's charts", chart_figures.rows_written, chart_figures.TABLES),
    Follower("sums of the portfolio's charts", chart_figures.row_removed, chart_figures.REMOVABLE,
             post_delete),
    Follower("days of planned tasks by person, after the commit", planned_tasks.rows_written,
             tuple(planned_tasks.PATHS)),
    Follower("days of planned tasks by person, after the commit", planned_tasks.row_removed,
             planned_tasks.REMOVABLE, post_delete),
    Follower("inbox, e-mail, chat and webhooks, after an audit entry",
             announcements.announce_entry, (AuditEntry,), post_save),
    Follower("inbox, e-mail, chat and webhooks, when a node stops answering",
             announcements.announce_contact, (NodeContact,), post_save),
    Follower("inbox, e-mail, chat and webhooks, after an alarm of a card or node",
             announcements.announce_alarm, (CardAlarm,), post_save),
    Follower("inbox, e-mail, chat and webhooks, after a maintenance was planned",
             announcements.announce_maintenance, (NodeReservation,), post_save),
    Follower("next step of the chain, after a job succeeded", _go_on_with_chain,
             signal=job_succeeded),
    Follower("measurements and verdicts, after a job succeeded", measurements.measure_job,
             signal=job_succeeded),
    Follower("measurements and verdicts that say so, after a job showed no NPU",
             measurements.measure_unproven_job, signal=job_unproven),
    Follower("verdicts anew, after a file's purpose was corrected",
             measurements.judge_corrected, signal=purpose_corrected),
    Follower("notice to the readers of issued documents, after a verdict that turned",
             overtaken.verdicts_written, (Verdict,)),
    Follower("index of a comparison's operators, after a file was read", comparisons.enqueue_index,
             signal=reading_stored),
    Follower("end of a model's jobs, after it was dropped", _cancel_jobs,
             signal=model_dropped),
    Follower("end of an engagement's jobs, when it is cancelled", _cancel_jobs,
             signal=engagement_cancelled),
    Follower("return of documents that the customer has not decided on, when the engagement is "
             "cancelled", approvals.withdraw_undecided, signal=engagement_cancelled),
    Follower("return of quotes that the customer has not answered, when the engagement is "
             "cancelled", quote_moves.revoke_unanswered, signal=engagement_cancelled),
    Follower("return of timesheets that the customer has not answered, when the engagement is "
             "cancelled", _withdraw_timesheets, signal=engagement_cancelled),
    Follower("state of the acceptance, after an engagement was reopened",
             certificates.follow_reopening, signal=engagement_reopened),
    Follower("draft of the effort estimate, approved with the quote that holds its days",
             _approve_estimate, signal=quote_approved),
    Follower("agreement, after the customer accepted a quote", agreements.quote_answered,
             signal=quote_accepted),
    Follower("agreement, after a change request came into force", agreements.change_put_in_force,
             signal=change_applied),
    Follower("agreement, after the first criteria were signed", agreements.criteria_written,
             (CriteriaSet,)),
    Follower("agreement, after a statement of work was issued", agreements.document_put_in_force,
             signal=document_issued),
    Follower("state of the acceptance, after a model came in", certificates.follow_scope,
             signal=model_added),
    Follower("state of the acceptance, after a model was dropped", certificates.follow_scope,
             signal=model_dropped),
    Follower("state of the acceptance, after a document was replaced",
             certificates.follow_replacement, signal=document_replaced),
)


def connect() -> None:
    """Have every follower called from now on; call it when Django starts."""
    for indexed in FOUND_BY_WORDS:
        search_index.register(indexed)
    for follower in FOLLOWERS:
        if follower.signal is None:
            for table in follower.tables:
                on_rows_written(table, follower.does)
        else:
            for sender in follower.tables or (None,):
                follower.signal.connect(follower.does, sender=sender)


def by_code() -> dict[CodeType, str]:
    """What each follower does, by the code of its function."""
    return {follower.does.__code__: follower.what for follower in FOLLOWERS}
