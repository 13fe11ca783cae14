"""Asks a kind what it says of given files, without a job or a node."""

import contextlib
from pathlib import PurePosixPath

import pytest
from django.utils import translation

from tests.workers.kinds.outputs import Files
from toolreaders import read_file
from toolreaders.source import ReadError
from workers import kinds
from workers.kinds.base import Finished, Judgement


@pytest.fixture
def judge(tmp_path):
    """`judge(code, files, status=0, cards=0, **parameters)`: files by name, parameters beside
    those of the example."""
    kinds.load_all()

    def ask(code: str, files: Files, status: int = 0, cards: int = 0, **parameters) -> Judgement:
        kind, readings = kinds.get(code), {}
        for number, (name, content) in enumerate(files.items()):
            path = tmp_path / str(number) / PurePosixPath(name).name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
            if name != "log.txt" or kind.reads_log:
                with contextlib.suppress(ReadError):
                    readings[name] = read_file(path)
        values = kind.clean({**kind.example_parameters(), **parameters})
        return kind.judge(Finished(status, files.get("log.txt", b"").decode(), readings,
                                   tuple(files), values, cards))

    with translation.override("en"):
        yield ask
