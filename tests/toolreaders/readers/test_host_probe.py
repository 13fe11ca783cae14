"""Our own probes of a node."""

import pytest

from toolreaders import ReadError, read_file

PROBE = """== uname -m ==
aarch64
== /etc/os-release ==
NAME="openEuler"
VERSION="22.03 (LTS-SP4)"
ID="openEuler"
VERSION_ID="22.03"
PRETTY_NAME="openEuler 22.03 (LTS-SP4)"
== lscpu ==
Architecture:                    aarch64
CPU op-mode(s):                  64-bit
CPU(s):                          192
On-line CPU(s) list:             0-191
Model name:                      Kunpeng-920
NUMA node(s):                    8
NUMA node0 CPU(s):               0-23
== free -m ==
               total        used        free      shared  buff/cache   available
Mem:         1547000       20000     1500000         100       27000     1510000
Swap:           4095           0        4095
== df -Pk ==
Filesystem     1024-blocks      Used Available Capacity Mounted on
/dev/sda2       1000000000 250000000 750000000      25% /
tmpfs               100000         0    100000       0% /run
/dev/nvme0n1p1  2000000000         0 2000000000       0% /data/my models
== python3 --version ==
Python 3.10.12
== gcc --version ==
gcc (GCC) 10.3.1
Copyright (C) 2020 Free Software Foundation, Inc.
== date +%s ==
1795233056
"""


def codes(reading):
    return {warning.code for warning in reading.warnings}


def test_facts_of_a_node(written):
    reading = read_file(written(PROBE))
    values = reading.values
    assert reading.kind == "host_probe"
    assert (values["arch"], values["os"], values["os_version"]) == ("aarch64", "openEuler", "22.03")
    assert (values["cpus"], values["numa_nodes"], values["memory_mb"]) == (192, 8, 1547000)
    assert (values["python"], values["gcc"]) == ("3.10.12", "10.3.1")
    assert [disk["mount"] for disk in values["disks"]] == ["/", "/data/my models"]
    assert values["disks"][0]["used_fraction"] == pytest.approx(0.25)
    assert not reading.warnings


def test_missing_compiler_is_null(written):
    text = PROBE.replace(
        "gcc (GCC) 10.3.1\nCopyright (C) 2020 Free Software Foundation, Inc.\n",
        "sh: 1: gcc: not found\n",
    )
    reading = read_file(written(text))
    assert reading.values["gcc"] is None
    assert "value_missing" in codes(reading)


def test_a_cut_probe_names_what_is_missing(written):
    reading = read_file(written(PROBE[: PROBE.index("== df")]))
    assert reading.values["disks"] == []
    assert reading.values["python"] is None
    assert "section_missing" in codes(reading)


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("gcc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0", "11.4.0"),
        ("gcc (GCC) 4.8.5 20150623 (Red Hat 4.8.5-44)", "4.8.5"),
    ],
)
def test_compiler_versions(written, line, version):
    assert read_file(written(PROBE.replace("gcc (GCC) 10.3.1", line))).values["gcc"] == version


def test_chinese_locale(written):
    text = (
        PROBE.replace("Mem: ", "内存：")
        .replace("CPU(s):  ", "CPU:  ")
        .replace("NUMA node(s)", "NUMA 节点")
    )
    values = read_file(written(text)).values
    assert (values["memory_mb"], values["cpus"], values["numa_nodes"]) == (1547000, 192, 8)


def test_torch_check(written):
    text = "Warning: x\n== torch_check ==\ntorch 2.1.0 torch_npu 2.1.0.post8 available True\n"
    reading = read_file(written(text))
    assert reading.kind == "torch_check"
    assert reading.values == {
        "torch": "2.1.0", "torch_npu": "2.1.0.post8", "available": True, "error": None, "line": 3
    }  # fmt: skip


def test_plain_form_of_the_tutorial(written):
    values = read_file(written("2.1.0 False\n")).values
    assert (values["torch"], values["torch_npu"], values["available"]) == ("2.1.0", None, False)


def test_failed_import_is_not_an_answer(written):
    text = "== torch_check ==\nTraceback (most recent call last):\nImportError: libhccl.so: no\n"
    reading = read_file(written(text))
    assert reading.values["available"] is None
    assert "check_failed" in codes(reading)


def test_marker_without_answer(written):
    with pytest.raises(ReadError) as error:
        read_file(written("== torch_check ==\n"))
    assert error.value.code == "no_values"
