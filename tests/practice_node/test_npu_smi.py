"""The npu-smi stand-in, by the reader of genuine npu-smi output."""

import pytest

from practice_node.faults import set_faults
from toolreaders import read_file


@pytest.fixture
def npu_smi(sh, work):
    def read(arguments="", before=""):
        sh(f"{before} npu-smi info {arguments} > {work.name}/out.txt")
        return read_file(work / "out.txt").values

    return read


def test_eight_healthy_chips_with_genuine_lines(sh, npu_smi):
    chips = npu_smi()["chips"]
    assert [(c["npu"], c["name"], c["health"]) for c in chips] == [
        (n, "910B3", "OK") for n in range(8)]
    assert all(30 < c["temperature_c"] < 70 and c["hbm_total_mb"] == 65536 for c in chips)
    text = sh("npu-smi info").stdout
    assert {len(line) for line in text.splitlines()} == {98}
    assert f"| {'No running processes found in NPU 7':<94} |" in text


def test_alarm_is_of_the_asked_card(npu_smi, practice):
    set_faults(practice.root / "home", card_alarm=3)
    assert [c["health"] for c in npu_smi()["chips"]] == ["OK"] * 3 + ["Alarm"] + ["OK"] * 4
    assert npu_smi("-t health -i 3")["items"]["Health Status"] == "Alarm"


@pytest.mark.slow
def test_running_training_is_seen_on_its_cards(npu_smi):
    start = ("ASCEND_RT_VISIBLE_DEVICES=4,5 torchrun --nproc_per_node 2 pretrain_gpt.py "
             "--train-iters 1 --practice-delay 0.05 > /dev/null & sleep 0.4;")
    used = [c["hbm_used_mb"] > 20000 for c in npu_smi(before=start)["chips"]]
    assert used == [False] * 4 + [True] * 2 + [False] * 2


def test_missing_driver_is_text_and_no_table(sh, practice):
    set_faults(practice.root / "home", missing_dcmi=True)
    answer = sh("npu-smi info")
    assert answer.stdout == "dcmi module initialize failed. ret is -8005\n"
    assert answer.exit_status != 0


@pytest.mark.parametrize(("arguments", "form"), [
    ("-m", "mapping"), ("-l", "list"), ("-t topo", "topo"), ("-t board -i 2", "board"),
    ("-t usages -i 2", "usages"), ("-t health -i 2", "health")])
def test_sub_commands_are_read_as_what_they_are(npu_smi, arguments, form):
    assert npu_smi(arguments)["form"] == form


def test_unknown_card_is_refused(sh):
    assert sh("npu-smi info -t board -i 9").stdout == "Invalid card id.\n"
