"""The embedded broker with messages that a crash left behind."""

import pytest
from kombu import Connection, Queue

QUEUE = Queue("work", routing_key="work")


@pytest.fixture
def line(tmp_path):
    options = {"data_folder_in": str(tmp_path), "data_folder_out": str(tmp_path),
               "control_folder": str(tmp_path / "control")}
    with Connection("filesystem://", transport="workers.dispatch.folder_broker:Transport",
                    transport_options=options) as connection:
        yield connection


def test_message_arrives_whole(line, tmp_path):
    with line.SimpleQueue(QUEUE) as queue:
        queue.put({"job": 7})
        [message] = [file.name for file in tmp_path.iterdir() if file.is_file()]
        assert message.endswith(".work.msg")
        assert queue.get(timeout=30).payload == {"job": 7}


@pytest.mark.parametrize("rest", [b"", b"{\"body\": \"tr"])
def test_damaged_message_is_skipped(line, tmp_path, rest):
    (tmp_path / "1_before.work.msg").write_bytes(rest)
    with line.SimpleQueue(QUEUE) as queue:
        queue.put({"job": 8})
        assert queue.get(timeout=30).payload == {"job": 8}
