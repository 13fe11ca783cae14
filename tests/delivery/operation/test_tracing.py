"""Traces that a process of its own sends to a collector: a server that speaks OTLP over HTTP."""

import os
import shutil
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from django.db import connection
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

ASKS = """
import django
django.setup()
from django.conf import settings
settings.ALLOWED_HOSTS = ["testserver"]
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.test import Client
for address in ("/login/", "/healthz", "/invitation/a-secret-of-an-invitation/"):
    Client().get(address)
from opentelemetry import trace
trace.get_tracer_provider().force_flush()
"""
SENDS_A_MESSAGE = """
import contextlib
from celery import Celery, signature
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from delivery.operation.spans import MessageTracing, ReticentExporter
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(ReticentExporter()))
trace.set_tracer_provider(provider)
MessageTracing().instrument()
Celery("portal", broker="memory://").set_default()
tracer = trace.get_tracer("test")
with contextlib.suppress(ValueError), tracer.start_as_current_span("request") as request:
    request.set_attribute("http.url", "http://desk/login/?next=a-secret-of-a-query")
    signature("a.task.of.the.worker", args=[1]).apply_async()
    with tracer.start_as_current_span("afterwards"):
        raise ValueError("a-secret-of-a-row")
provider.force_flush()
"""
PREPARE = """
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from engagements.models import Role, User
from engagements import services
manager = User.objects.create_user("manager", role=Role.MANAGER)
customer = services.create_customer(actor=manager, name="c")
services.create_engagement(actor=manager, customer=customer, code="EP2501", name="e")
"""
UPLOADS = """
import django
django.setup()
from django.conf import settings
settings.ALLOWED_HOSTS = ["testserver"]
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from engagements.models import Engagement, User
client = Client()
client.force_login(User.objects.get(username="manager"))
answer = client.post("/api/v1/artifacts/upload/", {
    "engagement": Engagement.objects.get().pk,
    "upload": SimpleUploadedFile("loss.csv", b"step,loss\\n1,3.5\\n2,3.25\\n")})
assert answer.status_code == 201, answer.content
from opentelemetry import trace
trace.get_tracer_provider().force_flush()
"""
WORKER = ("-m", "celery", "-q", "-A", "delivery", "worker", "-P", "threads", "-c", "2",
          "--loglevel", "error")
PATIENCE = 240  # seconds, for a busy machine


@pytest.fixture
def collector():
    """Address of a collector, and the spans it was sent."""
    sent = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            sent.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_args):
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", sent
    server.shutdown()
    server.server_close()


def succeed(script: str, environment: dict[str, str]) -> None:
    """Run the script as a process of its own. Raises AssertionError with what it said."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], env=environment,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def spans_of(sent) -> list:
    return [span for request in sent for resource in request.resource_spans
            for scope in resource.scope_spans for span in scope.spans]


def by_name(sent) -> dict:
    return {span.name: span for span in spans_of(sent)}


@pytest.mark.slow
def test_requests_are_traced_without_secrets(collector, migrated_file, tmp_path):
    shutil.copy(migrated_file, tmp_path / "traced.sqlite3")
    endpoint, sent = collector
    succeed(ASKS, {
        **os.environ, "DJANGO_SETTINGS_MODULE": "delivery.settings", "DESK_VAR_DIR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{tmp_path}/traced.sqlite3",
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_COMPRESSION": "none"})
    of_process = [resource for request in sent for resource in request.resource_spans]
    named = {fact.key: fact.value.string_value for fact in of_process[0].resource.attributes}
    assert named["service.name"] == "delivery-desk"
    spans = spans_of(sent)
    assert [span.name for span in spans if "login" in span.name]
    assert "a-secret" not in str(sent)
    assert not [span for span in spans if "healthz" in str(span)]


@pytest.mark.slow
def test_a_message_s_span_ends_for_an_unknown_task_and_tells_no_contents(collector):
    endpoint, sent = collector
    succeed(SENDS_A_MESSAGE, {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
                              "OTEL_EXPORTER_OTLP_COMPRESSION": "none"})
    spans = by_name(sent)
    request = spans.pop("request")
    assert set(spans) == {"apply_async/a.task.of.the.worker", "afterwards"}
    assert {span.parent_span_id for span in spans.values()} == {request.span_id}
    assert "ValueError" in str(spans["afterwards"].events)
    assert "a-secret" not in str(sent)


@pytest.mark.slow
@pytest.mark.django_db
def test_a_request_and_the_task_it_asks_for_are_one_trace(collector, migrated_database):
    """Portal and worker are two processes; statements are traced on PostgreSQL."""
    endpoint, sent = collector
    succeed(PREPARE, migrated_database)
    traced = {**migrated_database, "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
              "OTEL_EXPORTER_OTLP_COMPRESSION": "none", "OTEL_BSP_SCHEDULE_DELAY": "200"}
    succeed(UPLOADS, traced)
    with subprocess.Popen([sys.executable, *WORKER], env=traced) as worker:
        try:
            deadline = time.monotonic() + PATIENCE
            while "run/workers.read_upload" not in by_name(sent):
                assert worker.poll() is None
                assert time.monotonic() < deadline, sorted(by_name(sent))
                time.sleep(0.2)
        finally:
            worker.terminate()
    spans = by_name(sent)
    message, task = spans["apply_async/workers.read_upload"], spans["run/workers.read_upload"]
    [request] = [span for span in spans_of(sent) if span.span_id == message.parent_span_id]
    assert "artifacts/upload" in request.name
    assert task.parent_span_id == message.span_id
    assert {span.trace_id for span in (message, task)} == {request.trace_id}
    if connection.vendor == "postgresql":
        assert [span for span in spans_of(sent) if span.trace_id == request.trace_id
                and span.parent_span_id == task.span_id and span.name.startswith("SELECT")]
