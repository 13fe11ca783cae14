"""npu-smi and version files as people paste them: quoted, prompted, indented, one after another."""

import pytest

from toolreaders import ReadError, read_file
from workers.rules.facts.base import Seen
from workers.rules.facts.environment import versions


def codes(reading):
    return [warning.code for warning in reading.warnings]


def items(*pairs):
    return "".join(f"\t{key:<30} : {value}\n" for key, value in pairs)


HEAD = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 25.0.rc1                 Version: 25.0.rc1                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
"""
CHIPS = """\
| 3     910B3               | OK            | 90.5        41                NA    / NA           |
| 0                         | 0000:01:00.0  | 7           NA   / 0          4123 / 65536         |
+===========================+===============+====================================================+
| 4     910B3               | OK            | 91.0        42                0    / 0             |
| 0                         | 0000:02:00.0  | 0           0    / 0          3411 / 65536         |
+===========================+===============+====================================================+
"""


@pytest.mark.parametrize("before", ["> ", "[INFO] 2026-05-01 10:00:00 ", "# ", ""])
def test_a_table_with_something_before_each_line(before, written):
    text = "".join(before + line for line in (HEAD + CHIPS).splitlines(keepends=True))
    values = read_file(written(text.replace("\n", "\r\n"))).values
    assert values["npu_ids"] == [3, 4]
    assert [chip["hbm_used_mb"] for chip in values["chips"]] == [4123, 3411]
    assert [chip["memory_used_mb"] for chip in values["chips"]] == [None, 0]
    assert values["all_healthy"] is True


def test_a_table_whose_head_is_cut_off(written):
    text = "".join((HEAD + CHIPS).splitlines(keepends=True)[2:])
    reading = read_file(written(text))
    assert (reading.tool_version, reading.values["driver_version"]) == (None, None)
    assert (reading.values["npu_ids"], codes(reading)) == ([3, 4], ["version_missing"])


USAGE = (("Aicore Usage Rate(%)", 7), ("Aicore Freq(MHZ)", 1800), ("Temperature(C)", 46),
         ("NPU Real-time Power(W)", "69.5"))


@pytest.mark.parametrize(("form", "pairs"), [
    ("common", (("NPU ID", 0), ("Chip ID", 0), *USAGE)),
    ("memory", (("NPU ID", 0), ("HBM Capacity(MB)", 65536), ("HBM Clock Speed(MHz)", 1600))),
    ("temp", (("NPU ID", 0), ("Chip Count", 1), ("NPU Temperature (C)", 39))),
    ("power", (("NPU Real-time Power(W)", "203.5"),)),
    ("list", (("Card Count", 1), ("NPU ID", 3), ("Product Name", "Atlas"), ("Chip Count", 4))),
    ("pcie-err", (("NPU ID", 0), ("Chip ID", 0), ("TX Error Count", 0))),
])
def test_each_query_is_named(form, pairs, written):
    values = read_file(written(items(*pairs))).values
    assert values["form"] == form
    assert values["items"] == {key: float(value) if "." in str(value) else value
                               for key, value in pairs}


def test_errors_of_a_card_without_hbm_count(written):
    text = items(("NPU ID", 2), ("Chip Count", 1), ("Single-bit Error Count", 1),
                 ("Double-bit Error Count", 2))
    reading = read_file(written(text))
    assert (reading.values["form"], reading.values["error_count"]) == ("ecc", 3)
    assert codes(reading) == ["ecc_errors"]


def test_processes_of_a_chip(written):
    text = items(("NPU ID", 0), ("Chip ID", 0)) + (
        "\tProcess id:907864  Process name:                 Process memory(MB):134\n")
    values = read_file(written(text)).values
    assert values["form"] == "proc-mem"
    assert values["items"]["Processes"] == [{"pid": 907864, "name": "", "memory_mb": 134}]


def test_a_program_that_names_the_keys_is_no_output(written):
    text = "import re\nimport os\n\n\ndef usage(text):\n    return re.search(KEY, text)\n" * 3
    with pytest.raises(ReadError, match="unknown_format"):
        read_file(written(text + items(("NPU ID", 0), *USAGE)))


def row(*cells):
    return "\t" + "".join(f"{cell:<31}" for cell in cells) + "\n"


def test_a_mapping_without_logic_ids(written):
    text = row("NPU ID", "Slot ID", "Chip ID", "Chip Phy-ID", "Chip Name")
    text += row(0, 1, 0, 0, "Ascend950PR") + row(1, 2, 0, 1, "Ascend950PR")
    values = read_file(written(text)).values
    assert (values["chip_count"], values["names"]) == (2, ["Ascend950PR"])
    assert [chip["phy_id"] for chip in values["chips"]] == [0, 1]


@pytest.mark.parametrize("names", [("Phy-ID0", "Phy-ID1"), ("NPU6", "NPU7")])
def test_links_of_chips_that_are_not_counted_from_npu_0(names, written):
    text = "\t   " + "".join(f"{name:<11}" for name in names) + "CPU Affinity\n"
    text += f"{names[0]:<11}X          SIO        0-23\n{names[1]:<11}SIO        X          0-23\n"
    values = read_file(written(text)).values
    assert (values["npu_count"], values["links"]) == (2, {"SIO": 2})
    assert list(values["matrix"]) == list(names)


WATCH = "NpuID(Idx)  ChipId(Idx) Pwr(W)      Temp(C)     AI Core(%)  NPU Util(%)  \n"


def test_watched_chips(written):
    rows = [(0, 90.5, 40, 10), (1, 80.0, 38, 0), (0, 110.5, 44, 90), (1, 80.0, 38, "NA")]
    text = WATCH + "".join(f"{npu:<12}0           {power:<12}{heat:<12}{core:<12} NA\n"
                           for npu, power, heat, core in rows)
    values = read_file(written(text)).values
    assert (values["form"], values["chip_count"], values["npu_ids"]) == ("watch", 2, [0, 1])
    first, second = values["chips"]
    assert (first["samples"], first["max"]["power_w"], first["mean"]["aicore_percent"]) == (
        2, 110.5, 50)
    assert second["last"]["aicore_percent"] is None
    assert second["max"]["aicore_percent"] == 0


@pytest.mark.parametrize("text", [
    "There is no NPU card on this server.\n", "This device does not support querying proc-mem.\n",
    "Error parameter of -t\n", "bash: npu-smi：未找到命令\n"])
def test_more_words_of_failure(text, written):
    reading = read_file(written(text))
    assert (reading.values["form"], reading.values["all_healthy"]) == ("failure", None)


DRIVER = "Version=24.1.0\nascendhal_version=7.35.23\nInnerversion=V100R001C19SPC005B220\n"
FIRMWARE = "Version=7.5.0.3.220\nfirmware_version=1.0\n"
TOOLKIT = "package_name=Ascend-cann-toolkit\nversion=8.0.0\narch=aarch64\n"


@pytest.mark.parametrize("text", [
    "    " + DRIVER.replace("\n", "\n    "),
    f"```\n{DRIVER}```\n",
    f"[root@node ~]# cat /usr/local/Ascend/driver/version.info\n{DRIVER}",
    f"==> /usr/local/Ascend/driver/version.info <==\n{DRIVER}",
])
def test_a_version_file_with_what_stands_around_it(text, written):
    values = read_file(written(text)).values
    assert (values["component"], values["version"]) == ("driver", "24.1.0")


@pytest.mark.parametrize("between", ["", "root@node:~# cat firmware/version.info\n", "\n"])
def test_several_version_files_are_not_mixed(between, written):
    reading = read_file(written(DRIVER + between + FIRMWARE + between + TOOLKIT))
    values = reading.values
    assert (values["component"], values["version"]) == (None, None)
    found = [(part["component"], part["version"]) for part in values["files"]]
    assert found == [("driver", "24.1.0"), ("firmware", "7.5.0.3.220"),
                     ("Ascend-cann-toolkit", "8.0.0")]
    assert codes(reading) == ["several_files"]
    assert reading.warnings[0].line == 4 + between.count("\n")
    observed = {fact.name: fact.value for fact in versions(Seen(reading.kind, "", values))}
    assert (observed["hdk"], observed["cann"]) == ("24.1.0", "8.0.0")


def test_a_question_that_quotes_a_failure(written):
    with pytest.raises(ReadError, match="unknown_format"):
        read_file(written("Q：运行脚本时报 RuntimeError: Invalid device ID？\n\nA：请检查卡数。\n"))


@pytest.mark.parametrize("text", [
    "NAME=Ubuntu\nVERSION=22.04\nID=ubuntu\n", "group=com.example\nversion=1.0.2\n"])
def test_versions_of_something_else(text, written):
    with pytest.raises(ReadError, match="unknown_format"):
        read_file(written(text))


COLLECTED = """\
Collecting environment information...
PyTorch version: 2.5.1
Is debug build: False

OS: Ubuntu 22.04.5 LTS (aarch64)
Python version: 3.10.16 (main, Dec 11 2024, 16:18:56) [GCC 11.2.0] (64-bit runtime)

Versions of relevant libraries:
[pip3] torch==2.5.1
[pip3] torch-npu==2.5.1.post1
[conda] Could not collect
vLLM Version: 0.9.1
vLLM Ascend Version: 0.9.1rc1

NPU:
""" + HEAD + CHIPS + "\nCANN:\n" + TOOLKIT
FRAMED = ("==============================\n        System Info\n==============================\n"
          "OS                           : Ubuntu 22.04.5 LTS (aarch64)\n"
          "PyTorch version              : 2.5.1\nIs debug build               : False\n"
          "[pip3] torch-npu==2.5.1.post1\nvLLM Version                 : 0.9.1\n")


@pytest.mark.parametrize("text", [COLLECTED, "$ python collect_env.py\n" + COLLECTED, FRAMED])
def test_an_environment_as_a_framework_collects_it(text, written):
    reading = read_file(written(text))
    assert (reading.kind, reading.values["os"]) == ("version_info", "Ubuntu 22.04.5 LTS (aarch64)")
    packages = reading.values["packages"]
    assert (packages["torch"], packages["torch-npu"], packages["vllm"]) == (
        "2.5.1", "2.5.1.post1", "0.9.1")
    assert reading.values["consistent"] is True
    assert [part.kind for part in reading.parts] == ["npu_smi"] * ("npu-smi" in text)


def test_facts_of_a_collected_environment(written):
    reading = read_file(written(COLLECTED.replace("npu==2.5.1.post1", "npu==2.4.0")))
    observed = {fact.name: fact.value for fact in versions(Seen(reading.kind, "", reading.values))}
    assert (observed["hdk"], observed["cann"]) == ("25.0.rc1", "8.0.0")
    assert codes(reading) == ["version_mismatch", "other_part"]
    assert COLLECTED.splitlines()[reading.warnings[0].line - 1].startswith("[pip3] torch-npu")


def test_a_list_of_versions_of_a_training_framework(written):
    text = ("- `llamafactory` version: 0.9.1.dev0\n- Platform: Linux-4.19.90-aarch64\n"
            "- Python version: 3.10.14\n- PyTorch version: 2.1.0 (NPU)\n"
            "- Transformers version: 4.46.1\n- NPU type: Ascend910B3\n- CANN version: 8.0.RC2\n")
    values = read_file(written(text)).values
    assert values["packages"] == {"llamafactory": "0.9.1.dev0", "torch": "2.1.0",
                                  "transformers": "4.46.1"}
    assert [(part["component"], part["version"]) for part in values["files"]] == [
        ("CANN", "8.0.RC2")]


def test_answers_of_other_commands_are_none_of_a_port(written):
    text = ("/usr/local/Ascend/driver/tools/hccn_tool -i 0 -link -g\nlink status: UP\n\n"
            "lspci | grep acc\n3d:00.0 Processing accelerators: Huawei\n\n"
            "/usr/local/Ascend/driver/tools/hccn_tool -i 1 -link -g\nlink status: DOWN\n")
    reading = read_file(written(text))
    assert [check["items"] for check in reading.values["checks"]] == [
        {"link status": "UP"}, {"link status": "DOWN"}]
    assert [warning.line for warning in reading.warnings] == [7]
