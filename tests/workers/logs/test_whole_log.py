"""Logs longer than what is kept of them: what stands in the middle is found all the same."""

import pytest

from toolreaders.causes import log_parts
from toolreaders.verdicts.devices import device_in
from workers import kinds
from workers.dispatch.steps import judged_text
from workers.kinds import Finished, Judgement, success_checks
from workers.logs import diagnosis, live_log
from workers.models import Job

LINE = b"iteration %07d/ 9999999 | lm loss: 2.5E+00 | grad norm: 1.000 | elapsed 200.0 ms\n"
FILLER = b"".join(LINE % n for n in range(40_000))  # about three megabytes


@pytest.fixture
def job(db, settings, tmp_path):
    """A job whose log of nine megabytes has one telling line in its middle."""
    settings.VAR_DIR = tmp_path

    def of(line: str, exit_status: int) -> Job:
        log = b"".join([FILLER, line.encode() + b"\n", FILLER, FILLER])
        found = Job(pk=7, log_stored=len(log), exit_status=exit_status)
        live_log.path(found).write_bytes(log)
        return found

    return of


@pytest.mark.slow
def test_an_error_in_the_middle_forbids_success(job):
    text = judged_text(job("[ERROR] the shard 3 is not readable", 0))
    assert success_checks.error_lines(text) == ["[ERROR] the shard 3 is not readable"]
    assert len(text) < 6 * 2**20
    judgement = success_checks._errors(kinds.get("inf.atc"), Finished(0, text),
                                       Judgement(True, "done"))
    assert not judgement.is_success


@pytest.mark.slow
def test_the_device_named_in_the_middle_proves_the_run(job):
    text = judged_text(job("desk: device npu 3: process 7 holds it open", 0))
    assert device_in(text) == "npu 3"


@pytest.mark.slow
def test_a_cause_in_the_middle_is_found_with_its_line(job):
    found = diagnosis.of_job(job("RuntimeError: NPU out of memory. Tried to allocate 5.03 GiB "
                                 "(NPU 3; 60.96 GiB total capacity; x)", 1))
    assert (found.cause.code, found.line) == ("device_memory", 40_001)
    assert found.quote.startswith("RuntimeError: NPU out of memory.")


def test_lines_are_numbered_alike_however_the_log_is_cut():
    log = b"".join([FILLER[:5_000], b"no \xe4\xb8\xad end", FILLER[5_000:9_000]])
    for size in (7, 100, 4096):
        pieces = [log[at:at + size] for at in range(0, len(log), size)]
        assert "".join(log_parts.whole_lines(pieces)) == log.decode()
        parts = log_parts.parts_of(pieces)
        last = parts[-1]
        assert last.first_line + last.text.count("\n") == log.count(b"\n") + 1
