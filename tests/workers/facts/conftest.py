"""Facts as they come from files, jobs and models, without a database."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import pytest

from toolreaders import Reading, read_file
from toolreaders.scan import scan_texts
from workers import kinds
from workers.rules import Facts
from workers.rules.base import with_derived
from workers.rules.facts import load_all
from workers.rules.facts.of_job import facts_of_job
from workers.rules.facts.stored import of_readings
from workers.services.scans import reading_of as reading_of_scan

SAMPLES = Path(__file__).parents[2] / "samples"
load_all()
kinds.load_all()


def stored(name: str, reading: Reading, number: int) -> SimpleNamespace:
    """A reading as the database would give it."""
    return SimpleNamespace(
        kind=reading.kind, artifact=SimpleNamespace(name=name), artifact_id=number,
        values=reading.values, warnings=[asdict(warning) for warning in reading.warnings])


@pytest.fixture
def facts(tmp_path) -> Callable[..., Facts]:
    """facts(files, job=(kind, parameters), known={…}): all that is known, and what follows.

    files: a sample's path, or name → text; a mapping under "scan" is scanned as a source.
    """

    def gather(files=(), job=None, known: Mapping | None = None) -> Facts:
        readings = [stored(name, reading, at) for at, (name, reading) in enumerate(
            _readings(files, tmp_path), 1)]
        found = of_readings(readings)
        if job:
            kind = kinds.get(job[0])
            given = kind.clean({**kind.example_parameters(), **job[1]})
            own = facts_of_job(given, kind.environment(given), kind.facts(given))
            found = Facts(own).over(found)
        return with_derived(found.over(known or {}))

    return gather


def _readings(files, folder: Path):
    if isinstance(files, str):
        files = [files]
    for file in files:
        if isinstance(file, str):
            yield Path(file).name, read_file(SAMPLES / file)
        elif "scan" in file:
            yield "source.zip", reading_of_scan(scan_texts(file["scan"]))
        else:
            for name, text in file.items():
                path = folder / name.replace("/", "_")
                path.write_text(text)
                yield name, read_file(path)
