"""Logs beside the results: exit codes and words lie, end lines and tracebacks decide."""

from toolreaders import read_file

CANN = (
    "2026-11-21 00:18:27 (8934) [ERROR] Please verify that the CANN environment is properly "
    "configured.\n"
)


def codes(reading):
    return {warning.code for warning in reading.warnings}


def test_the_usual_error_line_is_no_failure(written):
    text = CANN + "2026-11-21 00:18:32 (8934) [INFO] msprobe compare ends successfully.\n"
    reading = read_file(written(text))
    assert (reading.kind, reading.tool) == ("tool_log", "msprobe")
    assert reading.values["succeeded"] is True
    assert not reading.warnings


def test_a_traceback_is_a_failure_whatever_else_is_said(written):
    text = CANN + "finished\nTraceback (most recent call last):\nValueError: token=hunter2\n"
    reading = read_file(written(text))
    assert reading.values["succeeded"] is False
    assert reading.values["exception"] == "ValueError: token=******"
    assert "traceback" in codes(reading)


def test_a_log_without_an_end_is_undecided(written):
    text = "2026-11-21 00:37:26 (1) [ERROR] Set device id failed. device id is: [0]\n"
    reading = read_file(written(text))
    assert reading.values["succeeded"] is None
    assert "errors_logged" in codes(reading)


def test_msmodelslim(written):
    text = "2026-11-21 00:46:04,499 - msmodelslim.app - INFO - ===========SUCCESS===========\n"
    reading = read_file(written(text))
    assert (reading.tool, reading.values["succeeded"]) == ("msmodelslim", True)
