"""Files made by workers: once, after any crash, and only from the facts they were ordered for."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from delivery.documents import render_progress
from delivery.documents.pdf import PdfUnavailableError
from delivery.reports import services, tasks
from delivery.reports.models import Document, RenderJob
from delivery.reports.services import render_jobs
from engagements.errors import DeskError, WrongState
from engagements.models import AuditEntry, Role
from tests.cached_fixtures import cached_fixture
from tests.document_steps import issued_document, reviewed_document


@pytest.fixture
@cached_fixture
def draft(delivered, people, renderer) -> Document:
    return services.draft_document(actor=people[Role.MANAGER], engagement=delivered, kind="AC")


@pytest.fixture
@cached_fixture
def ordered(draft, people, renderer) -> Document:
    """A document being issued, its two files on order."""
    return services.order_issue(actor=people[Role.ADMINISTRATOR],
                                document=reviewed_document(draft, people))


def state_of(document) -> str:
    return Document.objects.get(pk=document.pk).state


def test_the_page_orders_and_the_worker_makes(ordered, renderer):
    assert (ordered.state, renderer.runs) == ("issuing", 0)
    first, second = ordered.render_jobs.all()
    assert services.take_render_job(first.pk)
    assert state_of(ordered) == "issuing"
    assert services.take_render_job(second.pk)
    assert (state_of(ordered), ordered.files.count()) == ("issued", 2)


def test_a_doubled_message_makes_nothing_twice(ordered, renderer):
    pk = ordered.render_jobs.first().pk
    assert [services.take_render_job(pk), services.take_render_job(pk)] == [True, False]
    assert (renderer.runs, ordered.files.count()) == (1, 1)


def test_a_maker_that_died_is_replaced_when_its_hold_ends(ordered, renderer):
    order = ordered.render_jobs.first()
    now = timezone.now()
    RenderJob.objects.filter(pk=order.pk).update(
        state="running", claim_token="dead", claimed_until=now + timedelta(minutes=1))
    assert not services.take_render_job(order.pk)
    RenderJob.objects.filter(pk=order.pk).update(claimed_until=now - timedelta(seconds=1))
    assert services.take_render_job(order.pk)


def test_who_waits_for_the_press_holds_an_order_for_a_minute_at_a_time(ordered, monkeypatch):
    """A worker that is killed has its orders made by another one soon."""
    order = ordered.render_jobs.first()

    def apart(_function, *_args, still_waiting, **_named):
        RenderJob.objects.filter(pk=order.pk).update(claimed_until=timezone.now())
        still_waiting()
        order.refresh_from_db()
        return b"%PDF"

    monkeypatch.setattr(render_jobs, "run_in_child", apart)
    assert services.take_render_job(order.pk)
    left = order.claimed_until - timezone.now()
    assert timedelta(seconds=50) < left <= render_jobs.BRIEF_HOLD


def test_pages_laid_out_show_while_a_file_is_made(ordered, people, client, monkeypatch):
    order, shown = ordered.render_jobs.first(), []
    client.force_login(people[Role.MANAGER])
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"

    def rendering(_facts, _language, **_more) -> bytes:
        for line in ("Step 3 - Applying CSS", "Layout - Page 7", "Layout - Page 1"):
            render_progress.LOGGER.info(line)
        shown.append(client.get(f"/documents/{ordered.pk}/progress/").content.decode())
        return b"%PDF"

    monkeypatch.setattr("delivery.reports.rendering.render_document", rendering)
    assert services.take_render_job(order.pk)
    assert "7 pages laid out so far" in shown[0]
    assert shown[0].count("laid out") == 1  # nothing is known of the other file
    render_progress.LOGGER.info("Layout - Page 9")
    assert render_progress.pages([order.pk]) == {order.pk: 7}  # nobody listens any more


def test_the_sweep_finds_what_the_queue_lost(ordered, monkeypatch):
    woken = []
    monkeypatch.setattr(render_jobs, "enqueue", lambda name, pk, expires: woken.append(pk))
    tasks.sweep()
    assert woken == [order.pk for order in ordered.render_jobs.all()]


def test_a_failure_is_said_and_may_be_tried_again(ordered, renderer, people):
    renderer.error = PdfUnavailableError("Install the packages.")
    order = ordered.render_jobs.first()
    assert not services.take_render_job(order.pk)
    order.refresh_from_db()
    assert (order.state, order.error) == ("failed", "Install the packages.")
    renderer.error = None
    assert services.requeue_render_jobs(actor=people[Role.MANAGER], document=ordered) == 1
    assert services.take_render_job(order.pk)


@pytest.mark.slow
def test_an_approved_document_whose_file_fails_is_told_of_and_taken_back(
        ordered, renderer, people, client):
    """While its files are being made it stays; then author or approver make a draft of it."""
    author, number = ordered.created_by, ordered.number
    first, second = ordered.render_jobs.all()
    services.take_render_job(first.pk)
    with pytest.raises(WrongState):
        services.recall_document(actor=author, document=ordered)
    renderer.error = PdfUnavailableError("A picture is damaged.")
    services.take_render_job(second.pk)
    entry = AuditEntry.objects.get(action="issued_file.fail")
    assert (entry.target_id, entry.data["error"]) == (str(ordered.pk), "A picture is damaged.")
    client.force_login(people[Role.CONSULTANT])
    page = client.get(reverse("reports:document", args=[ordered.pk]),
                      headers={"accept-language": "en"}).content.decode()
    assert "is approved but cannot be issued" in page
    draft = services.recall_document(actor=people[Role.ADMINISTRATOR], document=ordered)
    assert (draft.state, draft.number, draft.issued_at, draft.snapshot["number"]) == (
        "draft", "", None, "")
    assert (draft.files.count(), draft.render_jobs.count()) == (0, 0)
    renderer.error = None
    again = issued_document(draft, people)
    assert (again.state, again.number) == ("issued", number)


def test_an_unforeseen_failure_is_tried_three_times(ordered, renderer):
    renderer.error = RuntimeError("boom")
    order = ordered.render_jobs.first()
    states = []
    for _n in range(3):
        services.take_render_job(order.pk)
        order.refresh_from_db()
        states.append(order.state)
    assert states == ["pending", "pending", "failed"]
    assert "boom" not in order.error


def test_the_caller_that_makes_its_own_files_hears_of_a_failure(draft, people, renderer):
    renderer.error = RuntimeError("boom")
    with pytest.raises(DeskError):
        issued_document(draft, people)
    renderer.error = None
    for order in draft.render_jobs.exclude(state="done"):
        services.take_render_job(order.pk)
    assert state_of(draft) == "issued"


def test_a_preview_of_other_facts_is_thrown_away(draft, people, renderer):
    manager = people[Role.MANAGER]
    services.order_preview(actor=manager, document=draft)
    first, second = draft.render_jobs.all()
    services.take_render_job(first.pk)
    services.refresh_draft(actor=manager, document=draft)
    assert not services.take_render_job(second.pk)
    assert (draft.files.count(), draft.render_jobs.count()) == (0, 0)


def test_the_card_of_files_asks_until_all_are_ready(ordered, people, client):
    client.force_login(people[Role.MANAGER])
    path = f"/documents/{ordered.pk}/progress/?was=issuing"
    waiting = client.get(path)
    assert 'hx-trigger="every 2s"' in waiting.content.decode()
    assert "HX-Refresh" not in waiting.headers
    for order in ordered.render_jobs.all():
        services.take_render_job(order.pk)
    ready = client.get(path)
    assert "hx-trigger" not in ready.content.decode()
    assert ready.headers["HX-Refresh"] == "true"


def test_the_page_of_a_draft_typesets_nothing(draft, people, renderer, client):
    client.force_login(people[Role.MANAGER])
    client.post(f"/documents/{draft.pk}/preview/")
    assert client.get(f"/documents/{draft.pk}/preview/en.pdf").status_code == 404
    assert renderer.runs == 0
    for order in draft.render_jobs.all():
        services.take_render_job(order.pk)
    answer = client.get(f"/documents/{draft.pk}/preview/en.pdf")
    assert b"".join(answer.streaming_content) == b"%PDF en "


def test_the_api_orders_a_preview_tries_again_and_discards(draft, renderer, api, outside):
    url = f"/api/v1/documents/{draft.pk}/"
    for client, status in ((outside, 404), (api(Role.REVIEWER), 404)):
        assert client.post(f"{url}preview/").status_code == status
        assert client.delete(url).status_code == status
    manager = api(Role.MANAGER)
    answer = manager.post(f"{url}preview/")
    assert (answer.status_code, [row["state"] for row in answer.json()["orders"]]) == (
        202, ["pending", "pending"])
    draft.render_jobs.update(state=RenderJob.State.FAILED)
    again = manager.post(f"{url}repeat/").json()
    assert [row["state"] for row in again["orders"]] == ["pending", "pending"]
    assert manager.delete(url).status_code == 204
    assert not Document.objects.filter(pk=draft.pk).exists()
