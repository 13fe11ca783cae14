"""Asks a kind what it says of given files, without a job or a node."""

from functools import cache
from pathlib import PurePosixPath

import pytest
from django.utils import translation

from tests.workers.kinds.outputs import Files
from toolreaders import read_file
from toolreaders.base import Reading
from toolreaders.source import ReadError
from workers import kinds
from workers.kinds.base import Finished, Judgement


@pytest.fixture(scope="session")
def read(tmp_path_factory):
    """What a file says, by name and content, once per process: many kinds are asked about it."""
    @cache
    def of(name: str, content: bytes) -> Reading | None:
        path = tmp_path_factory.mktemp("output") / name
        path.write_bytes(content)
        try:
            return read_file(path)
        except ReadError:
            return None

    return of


@pytest.fixture
def judge(read):
    """`judge(code, files, status=0, cards=0, **parameters)`: files by name, parameters beside
    those of the example."""
    kinds.load_all()

    def ask(code: str, files: Files, status: int = 0, cards: int = 0, **parameters) -> Judgement:
        kind = kinds.get(code)
        readings = {name: found for name, content in files.items()
                    if (name != "log.txt" or kind.reads_log)
                    and (found := read(PurePosixPath(name).name, content))}
        values = kind.clean({**kind.example_parameters(), **parameters})
        return kind.judge(Finished(status, files.get("log.txt", b"").decode(), readings,
                                   tuple(files), values, cards))

    with translation.override("en"):
        yield ask
