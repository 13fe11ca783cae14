"""Overflow findings and comparisons of offline models."""

import json

import pytest

from toolreaders import read_file
from toolreaders.accuracy.overflow import status_bits


def codes(reading):
    return {warning.code for warning in reading.warnings}


def test_every_bit_is_named_or_unknown():
    assert [bit["bit"] for bit in status_bits(272)] == [0x10, 0x100]
    assert all(bit["known"] for bit in status_bits(0x5B8))
    assert [bit["known"] for bit in status_bits(0x21)] == [False, True]
    assert status_bits(0) == []


def test_old_layout(sample):
    values = read_file(sample("accuracy/overflow/doc-sample.json")).values
    core = next(block for block in values["blocks"] if block["block"] == "AI Core")
    assert (core["status"], core["task_id"], core["block_idx"]) == (32, 57, 1)
    assert values["overflow_blocks"] == ["AI Core"]
    assert values["bits"][0]["zh"] == "浮点计算溢出"


def test_unknown_bit_is_kept(sample):
    reading = read_file(sample("accuracy/overflow/old-dha.json"))
    assert reading.values["overflow_blocks"] == ["DHA Atomic Add"]
    assert (reading.values["status"], reading.values["task_id"]) == (1, 12)
    assert "unknown_status_bit" in codes(reading)


def test_new_layout(sample):
    aic = read_file(sample("accuracy/overflow/new-AIC.json")).values
    assert (aic["overflow_blocks"], aic["status"], aic["task_id"]) == (["AIC"], 16, 65)
    sdma = read_file(sample("accuracy/overflow/new-SDMA.json"))
    assert (sdma.values["status"], sdma.values["stream_id"]) == (4, 12)
    assert "status_not_decoded" in codes(sdma)


def test_status_of_four_words(written):
    data = {"status": [32, 0, 1, 0], "task_id": 7, "stream_id": 1}
    entry = {"magic": "0x5a5a5a5a", "version": 1, "acc_list": {"acc_type": "AIC", "data": data}}
    values = read_file(written(json.dumps(entry))).values
    assert values["blocks"][0]["status_words"] == [32, 0, 1, 0]
    assert values["status"] == 32 + (1 << 64)


def test_keys_with_blanks_or_underscores(written):
    block = {"model id": 1, "task_id": 2, "status": 272}
    values = read_file(written(json.dumps({"AI_Core": block, "DHA_Atomic_Add": block}))).values
    assert values["overflow_blocks"] == ["DHA Atomic Add", "AI Core"]
    assert values["blocks"][0]["model_id"] == 1


def test_summary(sample):
    values = read_file(sample("accuracy/overflow/summary.txt")).values
    assert values["first_op"] == "Conv_3Relu_4"
    assert values["ops"][0] | {"bits": None} == {
        "index": 1, "name": "Conv_3Relu_4", "type": "Conv2D", "nonfinite": True,
        "block": "AI Core", "task_id": 4, "stream_id": 5, "status": 32, "status_words": [32],
        "bits": None,
    }  # fmt: skip


def test_overflow_check(sample):
    values = read_file(sample("accuracy/overflow/anomaly.json")).values
    assert (values["first_rank"], values["first_op"]) == ("rank_1", "Functional.conv2d.4.forward")
    assert values["ranks"]["rank_1"][0]["nonfinite_in"] == ["output"]


@pytest.mark.parametrize(
    ("name", "low", "nonfinite", "first"),
    [("bad", 7, 0, "Conv_3Relu_4"), ("ovf", 0, 2, "Conv_3Relu_4"), ("pass", 0, 0, None)],
)
def test_offline_model(sample, name, low, nonfinite, first):
    reading = read_file(sample(f"accuracy/msaccucmp/{name}.csv"))
    values = reading.values
    assert reading.kind == "accuracy_compare"
    assert (values["rows"], values["unmatched"]) == (13, 1)
    assert (values["low_cosine"], values["nonfinite"]) == (low, nonfinite)
    assert values["first_deviating"] == first


def test_acc_check_finds_the_nan_behind_its_warnings(sample):
    details = read_file(sample("accuracy/acc_check/details.csv"))
    values = details.values
    assert values["tool_verdicts"] == {"error": 9, "SKIP": 20, "pass": 85, "warning": 8}
    assert values["nonfinite"] == 7
    assert all("relu" in name for name in values["nonfinite_names"])
    result = read_file(sample("accuracy/acc_check/result.csv")).values
    assert result["tool_verdicts"]["Backward Test Success"] == {"pass": 30, " ": 9, "warning": 1}


def test_dump_with_bare_nan(written):
    tensor = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [1], "Max": 1.0}
    bad = tensor | {"Max": float("nan")}
    dump = {
        "task": "statistics", "level": "L1",
        "data": {
            "Functional.relu.0.forward": {"input_args": [tensor], "output": [tensor]},
            "Functional.relu.1.forward": {"input_args": [tensor], "output": [[bad]]},
            "Functional.relu.2.forward": {"input_args": [bad], "output": [bad]},
        },
    }  # fmt: skip
    reading = read_file(written(json.dumps(dump)))
    assert reading.kind == "accuracy_dump"
    assert reading.values["nonfinite"] == 2
    assert reading.values["first_nonfinite_output"] == "Functional.relu.1.forward"
    assert "nonfinite_values" in codes(reading)
