"""Moves of which there may be one, asked for by several at once: one happens, the others are told.

Every step from the quote to the signature, a change request to its end, a stage with its undo. The
audit log then holds the action once. On PostgreSQL the writers meet; SQLite lets one in at a time.
"""

import threading
from collections.abc import Callable
from decimal import Decimal

import pytest
from django.db import connection

from assessments import services as assessments
from assessments.models import MetricDefinition
from delivery.acceptance import services as acceptance
from delivery.demo.sample_setup import load_sample
from delivery.demo.scenario_documents import code_from_mail
from delivery.planning.services import changes
from delivery.quotes import services as quotes
from delivery.quotes.models import PriceLine, RateCard
from delivery.reports import services as reports
from engagements import services
from engagements.audit import audit_log
from engagements.errors import DeskError
from engagements.models import AuditEntry, Role, StageTransition, User
from engagements.stages import Stage, StageMove, StageState
from tests.delivery.planning.conftest import agreed, change

__all__ = ["agreed", "change"]
pytestmark = pytest.mark.django_db(transaction=True)
AT_ONCE = 4


def once(write: Callable[..., object], *, answers_all: bool = False, **given) -> object:
    """What the one that came through made; AT_ONCE ask at the same moment.

    answers_all: the others get the same row, and write nothing.
    """
    made, refused, barrier = [], [], threading.Barrier(AT_ONCE)
    last = AuditEntry.objects.order_by("-pk").values_list("pk", flat=True).first() or 0

    def ask():
        try:
            barrier.wait(timeout=30)
            made.append(write(**given))
        except Exception as error:
            refused.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=ask) for _n in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [error for error in refused if not isinstance(error, DeskError)] == [], write
    assert len(made) == (AT_ONCE if answers_all else 1), (write, refused)
    actions = list(AuditEntry.objects.filter(pk__gt=last).exclude(
        action__endswith=".file").values_list("action", "target_id"))  # each language has files
    assert len(actions) == len(set(actions)), (write, actions)
    return made[0]


@pytest.fixture
def mails(settings, tmp_path):
    settings.EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    settings.EMAIL_FILE_PATH = str(tmp_path / "mail")


@pytest.mark.slow
@pytest.mark.usefixtures("quick_files", "mails")
def test_from_the_quote_to_the_signature():
    engagement = load_sample()
    who = {user.username: user for user in User.objects.all()}
    sales, lead, manager, reviewer = (
        who[name] for name in ("sales", "lead", "manager", "reviewer"))
    quote = quotes.create_quote(actor=sales, engagement=engagement)
    price = PriceLine.objects.filter(card=RateCard.objects.order_by("pk").first(),
                                     unit="person_day").first()
    quotes.add_line(actor=sales, quote=quote, price=price, quantity=Decimal(10))
    quote.refresh_from_db()
    quotes.update_quote(actor=sales, quote=quote, source_note="x")
    once(quotes.submit_quote, actor=sales, quote=quote)
    once(quotes.review_quote, actor=who["consultant"], quote=quote)
    once(quotes.approve_quote, actor=manager, quote=quote)
    once(quotes.issue_quote, actor=sales, quote=quote)

    criteria = once(assessments.draft_criteria, actor=lead, engagement=engagement)
    assessments.add_criterion(
        actor=lead, criteria_set=criteria, model=engagement.models.first(), stage=Stage.INFER_TUNE,
        threshold=Decimal(200), definition=MetricDefinition.objects.get(code="latency"))
    assessments.confirm_criteria(actor=reviewer, criteria_set=criteria)
    once(assessments.sign_criteria, actor=manager, criteria_set=criteria)

    draft = once(reports.draft_acceptance, actor=lead, engagement=engagement)
    once(reports.submit_document, actor=lead, document=draft)
    once(reports.review_document, actor=who["consultant"], document=draft)
    issued = once(reports.issue_document, actor=manager, document=draft)
    review = once(acceptance.open_review, answers_all=True, actor=manager, document=issued)
    acceptance.decide(actor=reviewer, review=review, decision="accepted")  # may be replaced
    acceptance.begin_signing(actor=reviewer, review=review, name=reviewer.full_name,
                             capacity=reviewer.job_title, agrees=True)
    once(acceptance.sign, actor=reviewer, review=review, code=code_from_mail(reviewer))
    assert list(audit_log.findings()) == []


@pytest.mark.usefixtures("firm")
def test_a_change_request_is_approved_applied_and_closed_once(change, people):
    once(changes.approve_change, actor=people[Role.MANAGER], change=change)
    once(changes.approve_change, actor=people[Role.REVIEWER], change=change)
    change.refresh_from_db()
    assert change.state == "applied"


def test_a_stage_is_begun_and_taken_back_once(people, engagement):
    record = services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="LLM",
                                name="x").stages.get(stage=Stage.SURVEY)
    move = {"actor": people[Role.MANAGER], "record": record}
    once(services.move_stage, move=StageMove.START, **move)
    made = StageTransition.objects.filter(record=record)
    once(services.undo_moves, actor=people[Role.MANAGER], transitions=made)
    record.refresh_from_db()
    assert record.state == StageState.NOT_STARTED
