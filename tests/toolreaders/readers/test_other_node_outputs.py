"""npu-smi and hccn_tool as other drivers print them, and as loops over the devices do."""

import pytest

from toolreaders import read_file

HEALTH = """\tHealth Status                  : Alarm
\tError Code                     : 80E01801
\tError Information              : node type=hbm, event state=multi-bit
\t                                 ecc
"""
PROCESSES = """\tNPU ID                         : 0
\tSerial Number                  : 0210331234
\tChip ID                        : 0
\tProcess id:1234          Process name:python3                  Process memory(MB):28001
\tProcess id:1235          Process name:                         Process memory(MB):5
"""


def test_an_error_code_is_no_number(written):
    reading = read_file(written(HEALTH))
    assert reading.values["items"]["Error Code"] == "80E01801"
    assert reading.values["items"]["Error Information"].endswith("multi-bit ecc")
    assert reading.values["all_healthy"] is False


@pytest.mark.parametrize("key", ["Health Status", "Health"])
@pytest.mark.parametrize(("state", "is_healthy"), [("OK", True), ("Alarm", False), ("NA", None)])
def test_health_of_older_and_newer_releases(key, state, is_healthy, written):
    text = f"\tNPU ID          : 0\n\t{key:<16}: {state}\n\tError Code      : NA\n"
    values = read_file(written(text)).values
    assert (values["form"], values["all_healthy"]) == ("health", is_healthy)


@pytest.mark.parametrize(("count", "errors"), [("NA", None), ("0", 0), ("3", 3)])
@pytest.mark.parametrize("memory", ["HBM", "DDR"])
def test_a_counter_that_is_not_told_is_no_zero(memory, count, errors, written):
    text = f"\tNPU ID          : 0\n\t{memory} Single Bit Error Count : {count}\n"
    values = read_file(written(text)).values
    assert (values["form"], values["error_count"]) == ("ecc", errors)


def test_processes_and_serial_numbers(written):
    items = read_file(written(PROCESSES)).values["items"]
    assert items["Serial Number"] == "0210331234"
    assert items["Processes"] == [{"pid": 1234, "name": "python3", "memory_mb": 28001},
                                  {"pid": 1235, "name": "", "memory_mb": 5}]


def test_a_note_is_not_part_of_the_last_value(written):
    text = "\tNPU ID     : 0\n\tChip ID    : 0\n\n\tNo process in device.\n"
    assert read_file(written(text)).values["items"] == {"NPU ID": 0, "Chip ID": 0}


@pytest.mark.parametrize("line", [
    "-bash: /usr/local/bin/npu-smi: No such file or directory",
    "npu-smi: error while loading shared libraries: libc_sec.so: cannot open shared object file"])
def test_failures_to_start(written, line):
    values = read_file(written(line + "\n")).values
    assert (values["form"], values["all_healthy"]) == ("failure", None)


@pytest.mark.parametrize("text", [
    "link status: DOWN\nlink status: UP\n",
    "[devid 0]link status: DOWN\n[devid 1]link status: UP\n",
    "hccn_tool -i 0 -link -g\nlink status: DOWN\nhccn_tool -i 1 -link -g\nlink status: UP\n"])
def test_a_later_device_does_not_hide_a_broken_one(written, text):
    reading = read_file(written(text))
    assert [check["healthy"] for check in reading.values["checks"]] == [False, True]
    assert reading.values["healthy"] is False
    assert [warning.code for warning in reading.warnings] == ["network_problem"]


def test_a_controller_is_not_the_chip_before_it(written):
    text = ("\tNPU ID       : 0\n\n\tChip ID      : 0\n\tTemperature(C) : 38\n"
            "\tAicore Count : 24\n\n\tChip Name    : mcu\n\tTemperature(C) : 35\n")
    values = read_file(written(text)).values
    assert values["items"] == {"NPU ID": 0, "Chip ID": 0, "Temperature(C)": 38, "Aicore Count": 24}
    assert values["blocks"][1] == {"Chip Name": "mcu", "Temperature(C)": 35}
