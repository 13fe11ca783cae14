"""Health, readiness, figures, alerts and logs."""

import json
import logging
import re
import shutil
import subprocess
import time
from datetime import timedelta
from pathlib import Path

import pytest
from celery import Task, signals
from django.conf import settings as django_settings
from django.core.cache import cache
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from pythonjsonlogger.json import JsonFormatter

from delivery.operation import diagnosis, heartbeat, readiness
from engagements import database_clock, leased_scheduler
from engagements.log_context import ContextFilter, log_context
from engagements.models import Lease, Role
from toolreaders.masking import MASK
from workers.models import Job, Node

DEPLOY = Path(django_settings.BASE_DIR) / "deploy"
METRIC = re.compile(r"\bdesk_[a-z_]+")


@pytest.fixture
def scrape(client, settings):
    settings.METRICS_TOKEN = "of-prometheus"

    def figures() -> dict:
        cache.clear()
        answer = client.get("/metrics", headers={"Authorization": "Bearer of-prometheus"})
        assert answer.status_code == 200
        return {(sample.name, *sample.labels.values()): sample.value
                for family in text_string_to_metric_families(answer.content.decode())
                for sample in family.samples}
    return figures


def test_health_and_readiness_without_a_log_in(client, db, monkeypatch):
    assert client.get("/healthz").content == b"ok\n"
    ready = client.get("/readyz")
    parts = {"database", "migrations", "broker", "cache", "storage"}
    assert (ready.status_code, ready.json()) == (
        200, {**dict.fromkeys(parts, "ok"), "clock": "stopped", "time": "ok"})
    assert leased_scheduler.take(leased_scheduler.CLOCK, "a host")
    assert client.get("/readyz").json()["clock"] == "ok"

    def broken():
        raise OSError("secret address")

    monkeypatch.setitem(readiness.PARTS, "storage", broken)
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()["storage"]) == (503, "failed")
    assert "secret" not in ready.content.decode()


@pytest.mark.slow
def test_a_stopped_clock_process_is_told_within_half_a_minute(client, db, scrape, monkeypatch):
    assert scrape()["desk_clock_age_seconds",] == heartbeat.NEVER
    leased_scheduler.take(leased_scheduler.CLOCK, "a host")
    assert scrape()["desk_clock_age_seconds",] < 5
    Lease.objects.update(until=Now() + leased_scheduler.LEASE - timedelta(seconds=26))
    assert scrape()["desk_clock_age_seconds",] > heartbeat.LATE
    assert client.get("/readyz").json()["clock"] == "stopped"
    [finding] = diagnosis.clock_process()
    assert finding.state == diagnosis.BAD


def test_a_process_whose_time_is_wrong_says_so(client, db, settings, monkeypatch, caplog):
    """A worker an hour back: in its log, in figures, in readiness; it notes the database's time."""
    settings.METRICS_TOKEN = "of-prometheus"
    monkeypatch.setattr(database_clock, "_looks", {})
    with monkeypatch.context() as worker:
        worker.setattr(database_clock, "seconds_ahead", lambda: -3600.0)
        worker.setattr(heartbeat, "_written_at", -100.0)
        heartbeat.worker_did_a_task()
    assert "The clock of this worker is -3600 s off the database's" in caplog.text
    assert 3590 < cache.get(heartbeat.KEY) - time.time() < 3610
    assert client.get("/readyz").json()["time"] == "wrong"
    assert database_clock.look("worker") == -3600.0  # asked again after half a minute
    cache.delete("operation-figures")
    found = client.get("/metrics", headers={"Authorization": "Bearer of-prometheus"})
    assert 'desk_clock_ahead_seconds{process="worker"} -3600.0' in found.content.decode()


def test_readiness_notices_a_store_that_cannot_be_written(db, settings, tmp_path):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the folder should be")
    settings.MEDIA_ROOT = blocked
    assert list(readiness.failures()) == ["storage"]


def test_metrics_want_their_token(client, db, settings):
    assert client.get("/metrics").status_code == 404
    settings.METRICS_TOKEN = "of-prometheus"
    assert client.get("/metrics").status_code == 404
    assert client.get("/metrics", headers={"Authorization": "Bearer x"}).status_code == 404


def test_figures_follow_the_rows(client, db, scrape):
    now = timezone.now()
    node = Node.objects.create(name="n", host="h", username="u", state="ready",
                               unreachable_since=now, cards_total=8)
    Job.objects.create(kind="env.npu_info", node=node, next_step_at=now - timedelta(seconds=90))
    Job.objects.create(kind="env.npu_info", node=node, next_step_at=now + timedelta(hours=1))
    client.get("/login/")
    found = scrape()
    assert found["desk_jobs_open", "queued"] == 2
    assert 90 <= found["desk_oldest_due_job_seconds",] < 100
    assert found["desk_nodes", "ready"] == found["desk_nodes_unreachable",] == 1
    assert found["desk_requests_total", "GET", "login", "200"] >= 1
    assert found["desk_worker_age_seconds",] == heartbeat.NEVER
    heartbeat._written_at = 0
    heartbeat.worker_did_a_task()
    assert heartbeat.worker_age_seconds(timezone.now()) < 5


def test_alerts_and_dashboard_name_figures_that_there_are(client, db, scrape):
    client.get("/login/")
    from delivery.operation import worker_signals  # noqa: F401 – its figures are a worker's

    scrape()
    shown = client.get("/metrics", headers={"Authorization": "Bearer of-prometheus"})
    names = {name.removesuffix("_total")
             for name in re.findall(r"# TYPE (\w+)", shown.content.decode())}
    names |= {"desk_tasks", "desk_task_seconds", "desk_backup_age_seconds"}
    for file in ("prometheus/alerts.yml", "grafana/delivery-desk.json"):
        used = {re.sub(r"_(total|bucket)$", "", name)
                for name in METRIC.findall((DEPLOY / file).read_text())}
        assert used - names == set(), file
        assert len(used) > 8


@pytest.mark.skipif(not shutil.which("promtool"), reason="Prometheus is not installed")
def test_alert_rules_hold_for_prometheus():
    for command in ("check rules alerts.yml", "test rules alerts.test.yml"):
        done = subprocess.run(["promtool", *command.split()], cwd=DEPLOY / "prometheus",
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_operator_s_page(client, people):
    for role, status in ((Role.ADMINISTRATOR, 200), (Role.OPERATOR, 200), (Role.MANAGER, 403)):
        client.force_login(people[role])
        page = client.get(reverse("operation:operation"))
        assert page.status_code == status
    client.force_login(people[Role.OPERATOR])
    text = client.get("/operation/", headers={"Accept-Language": "en"}).content.decode()
    assert "desk_disk_free_bytes" in text
    assert re.search(r"Nothing at present:[^<]*Open jobs, by state", text)
    assert re.search("desk_backup_age_seconds</code></div></td><td[^>]*><span[^>]*>not known", text)
    assert re.search("desk_clock_age_seconds</code></div></td><td[^>]*><div>never", text)


def test_log_lines_carry_request_and_job(client, people, caplog):
    client.force_login(people[Role.MANAGER])
    with caplog.at_level(logging.INFO, "desk.requests"):
        caplog.handler.addFilter(ContextFilter())
        answer = client.get("/", headers={"X-Request-ID": "from-proxy-1234"})
        odd = client.get("/", headers={"X-Request-ID": "x\ny" * 40})
    assert answer["X-Request-ID"] == "from-proxy-1234"
    assert re.fullmatch("[0-9a-f]{16}", odd["X-Request-ID"])
    line = json.loads(_formatter().format(caplog.records[0]))
    assert line["request_id"] == "from-proxy-1234"
    assert (line["path"], line["status"], line["user_id"]) == ("/", 200, people[Role.MANAGER].pk)
    record = logging.LogRecord("workers", logging.INFO, "f", 1, "收集完成", None, None)
    with log_context(job_id=17):
        ContextFilter().filter(record)
    assert json.loads(_formatter().format(record))["job_id"] == 17
    assert record.context == " [job_id=17]"


@pytest.mark.parametrize("path", ["/password/link/Mg/KEPT-SECRET/", "/invitation/KEPT-SECRET/",
                                  "/plan-calendar/KEPT-SECRET.ics"])
def test_addresses_that_let_somebody_in_stay_out_of_the_log(client, db, caplog, path):
    caplog.set_level(logging.INFO, "desk.requests")
    client.get(path)
    assert path.replace("KEPT-SECRET", MASK) in caplog.text
    assert "KEPT-SECRET" not in "".join(
        line.getMessage() for line in caplog.records if line.name == "desk.requests")


def test_lines_after_a_task_no_longer_carry_its_name():
    facts: list[dict] = []
    task = Task()
    task.name = "some.task"
    for signal in (signals.task_prerun, signals.task_postrun):
        signal.send(sender=task, task_id="t-1", task=task, state="SUCCESS")
        record = logging.LogRecord("workers", logging.INFO, "f", 1, "x", None, None)
        ContextFilter().filter(record)
        facts.append(record.context)
    assert facts == [" [task=some.task task_id=t-1]", ""]


def _formatter() -> JsonFormatter:
    options = dict(django_settings.LOGGING["formatters"]["json"])
    return JsonFormatter(fmt=options.pop("format"), **{
        name: value for name, value in options.items() if name != "()"})
