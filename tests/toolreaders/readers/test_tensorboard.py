"""Event files, written here as TensorBoard frames them."""

import math
import struct

import pytest

from toolreaders import ReadError, read_file
from toolreaders.training.series import read_series
from toolreaders.training.tensorboard import masked_crc


def record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return (
        length + struct.pack("<I", masked_crc(length)) + data + struct.pack("<I", masked_crc(data))
    )


def block(number: int, data: bytes) -> bytes:
    assert len(data) < 128
    return bytes([number << 3 | 2, len(data)]) + data


def scalar(tag: str, step: int, value: float, *, tensor: bool = False) -> bytes:
    number = struct.pack("<f", value)
    content = block(8, b"\x08\x01" + block(4, number)) if tensor else b"\x15" + number
    summary = block(1, block(1, tag.encode()) + content)
    return record(b"\x09" + struct.pack("<d", 1.0) + bytes([0x10, step]) + block(5, summary))


HEAD = record(b"\x09" + struct.pack("<d", 1.0) + block(3, b"brain.Event:2"))


def test_the_checksum_is_crc32c():
    # RFC 3720 B.4: 32 bytes of zeros have the CRC-32C 0x8A9136AA
    crc = 0x8A9136AA
    assert masked_crc(bytes(32)) == (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


@pytest.mark.parametrize("tensor", [False, True])
@pytest.mark.parametrize("tag", ["train/loss", "Loss/train", "lm loss"])
def test_scalars_of_the_training_loss(written, tag, tensor):
    data = HEAD + scalar("val/loss", 0, 9.0)
    data += b"".join(scalar(tag, step, 4.0 - step, tensor=tensor) for step in range(3))
    series = read_series(written(data))
    assert (series.steps.tolist(), series.losses.tolist()) == ([0, 1, 2], [4.0, 3.0, 2.0])
    assert series.extras["tag"] == tag


def test_the_last_of_several_runs_is_the_curve(written):
    data = HEAD + b"".join(scalar("loss", step, value) for value, steps in (
        (4.0, range(1, 9)), (2.0, range(1, 4))) for step in steps)
    series = read_series(written(data))
    assert (series.steps.tolist(), series.losses.tolist()) == ([1, 2, 3], [2.0] * 3)
    assert [warning.code for warning in series.warnings] == ["several_runs"]


def test_nan_and_a_cut_off_record(written):
    data = HEAD + scalar("loss", 1, 2.0) + scalar("loss", 2, math.nan) + scalar("loss", 3, 1.0)[:-6]
    series = read_series(written(data))
    assert series.steps.tolist() == [1, 2]
    assert [warning.code for warning in series.warnings] == ["truncated_record", "nonfinite_loss"]


@pytest.mark.parametrize(("scales", "explained"), [((), 0), ((64.0, 32.0, 32.0), 1)])
def test_a_gradient_norm_that_is_nan_is_told(written, scales, explained):
    data = HEAD + b"".join(
        scalar("lm loss", step, 2.0) + scalar("grad-norm", step, norm)
        for step, norm in enumerate((1.5, math.nan, 1.5), 1))
    data += b"".join(scalar("loss-scale", step, value) for step, value in enumerate(scales, 1))
    reading = read_file(written(data))
    assert [warning.code for warning in reading.warnings] == ["nonfinite_grad_norm"]
    norms = reading.values["grad_norm"]
    assert (norms["nonfinite"], norms["explained"]) == (1, explained)


def test_a_file_of_evaluations_is_no_curve(written):
    reading = read_file(written(HEAD + scalar("eval/loss", 5, 1.5)))
    assert (reading.kind, reading.values["metrics"]) == ("evaluation", {"eval/loss": 1.5})


def test_a_file_without_scalars(written):
    with pytest.raises(ReadError) as error:
        read_file(written(HEAD))
    assert error.value.code == "no_loss_points"


def test_rates_and_scales_stand_beside_the_losses(written):
    tags = {"loss": 2.0, "learning-rate": 0.25, "loss-scale": 1024.0, "eval/epoch": 7.0}
    data = HEAD + b"".join(scalar(tag, step, value) for step in (1, 2)
                    for tag, value in tags.items() if (tag, step) != ("learning-rate", 2))
    columns = read_series(written(data)).conditions.columns
    assert columns.keys() == {"learning_rate", "loss_scale"}
    assert (columns["learning_rate"][0], math.isnan(columns["learning_rate"][1])) == (0.25, True)
    assert [*columns["loss_scale"]] == [1024.0, 1024.0]


def test_rates_of_a_table_stand_beside_its_losses(written):
    text = "step,lr,val_lr,loss\n1,0.5,9,2.0\n2,0.25,9,1.5\n3,,9,1.25\n"
    columns = read_series(written(text)).conditions.columns
    assert [*columns["learning_rate"][:2]] == [0.5, 0.25]
    assert (columns.keys(), math.isnan(columns["learning_rate"][2])) == ({"learning_rate"}, True)
