"""A real HTTP server as the other side of channels."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from delivery.notices.services import channels
from engagements import services
from engagements.models import Role
from tests.cached_fixtures import cached_fixture

SECRET = "SECdemo0000000000000000000000000000"
CONFIDENTIAL = ("某电力公司", "A power company", "1,234,567", "阈值", "2 %", "变电站",
                "TOPSECRETKEY", SECRET)


def states(channel) -> list[str]:
    return sorted(channel.dispatches.values_list("state", flat=True))


class OtherSide(BaseHTTPRequestHandler):
    """Keeps what it is sent and answers what the test laid out."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append({
            "path": self.path, "headers": dict(self.headers), "body": body,
            "json": json.loads(body)})
        status, headers, answer = self.server.answers.pop(0) if self.server.answers \
            else self.server.usual
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_arguments):
        pass


@pytest.fixture
def other_side(settings):
    """The server, allowed by the settings; `usual` is its answer, `answers` come before it."""
    server = HTTPServer(("127.0.0.1", 0), OtherSide)
    server.received, server.answers = [], []
    server.usual = (200, {}, b'{"errcode":0,"code":0}')
    server.origin = f"http://127.0.0.1:{server.server_port}"
    settings.NOTICE_HOSTS = [server.origin]
    settings.NOTICE_NETWORKS = ["127.0.0.0/8"]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def channel_of(other_side, people):
    """Makes a channel of a kind that leads to the server."""
    def make(kind="wecom", **fields):
        fields.setdefault("secret", "SECdemo0000000000000000000000000000")
        fields.setdefault("name", kind)
        return channels.create_channel(
            actor=people[Role.ADMINISTRATOR], kind=kind,
            url=f"{other_side.origin}/send?key=TOPSECRETKEY", **fields)
    return make


@pytest.fixture
@cached_fixture
def record(engagement, people):
    """The first stage of a model, started."""
    model = services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="LLM",
                               name="巡检大模型")
    found = model.stages.first()
    services.move_stage(actor=people[Role.CONSULTANT], record=found, move="start")
    return found


@pytest.fixture
def submit(record, people):
    """Submits the stage and sends it back, as often as called: two events each time."""
    def go(times=1):
        for _ in range(times):
            services.move_stage(actor=people[Role.CONSULTANT], record=record, move="submit")
            services.move_stage(actor=people[Role.MANAGER], record=record, move="send_back",
                                comment="阈值 2 % 未写明,合同金额 ¥1,234,567.00")
            services.move_stage(actor=people[Role.CONSULTANT], record=record, move="start")
    return go
