"""YOLO consoles and results.csv: means of epochs, whatever the columns, line ends and version."""

import gzip
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolreaders import read_file

HEADS = {
    "detect": "      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size",
    "version 5": "     Epoch   gpu_mem       box       obj       cls    labels  img_size",
}
BAR = "100%|██████████| 8/8 [00:01<00:00,  7.08it/s]"
SCORED = ("                Class     Images  Instances      Box(P          R      mAP50  mAP50-95)"
          ": 100%|██████████| 2/2 [00:00<00:00, 10.41it/s]\n"
          "                   all        128        929       0.68       0.54      0.61      0.4\n"
          "                person        128        254       0.8       0.6      0.7      0.5\n")


def epoch(number, losses, *, head="detect", last=3, end=BAR, running=True):
    """A table of one epoch as the console prints it: running means, then those of the epoch."""
    shown = "".join(f"      {loss:.4g}" for loss in losses)
    row = f"        {number}/{last}      2.61G{shown}         81        640: "
    early = f"\r{row.replace(shown, '      9.9' * len(losses))} 12%|█| 1/8 [00:00<00:01,  1.1it/s]"
    return f"\n{HEADS[head]}\n{early if running else ''}\r{row}{end}\n{SCORED}"


def detect(count=3):
    return "".join(epoch(n, (1.2 - n / 10, 1.5, 1.25)) for n in range(1, count + 1))


def test_the_last_mean_of_an_epoch_counts(written):
    values = (reading := read_file(written(detect()))).values
    assert (reading.tool, values["step_unit"], values["meaning"], values["step_base"]) == (
        "ultralytics", "epoch", "window_mean", 1)
    assert (values["loss"]["points"], values["loss"]["first_step"]) == (3, 1)
    assert values["loss"]["first"] == pytest.approx(1.1 + 1.5 + 1.25)
    assert values["loss_parts"]["box_loss"] == {"first": 1.1, "last": 0.9}
    assert values["evaluation"]["map50_95"] == {"last": 0.4, "max": 0.4, "count": 3}
    assert values["iteration_time_ms"]["mean"] == pytest.approx(1000 / 7.08)
    assert values["memory"]["peak_reserved_mb"] == pytest.approx(2.61e9 / 2**20)
    assert [warning.code for warning in reading.warnings] == ["loss_is_a_sum"]


@pytest.mark.parametrize("vary", [
    lambda text: text.replace("\n", "\r\n"), lambda text: "\ufeff" + text,
    lambda text: "启动训练\n".encode("gbk") + text.encode(),
    lambda text: gzip.compress(text.encode()),
    lambda text: text.replace("\r", "\r\x1b[K\x1b[34m"),
    lambda text: text.replace(BAR, "100% ━━━━━━━━━━━━ 8/8 7.08it/s 1.1s"),
    lambda text: text.replace("Instances", "Instances ").replace("   cls_loss", " cls_loss"),
    lambda text: "[rank0]: WARNING clip 1/8 2.0 3.0\n" + text])
def test_what_surrounds_the_table_does_not_matter(written, vary):
    plain = read_file(written(detect())).values
    assert read_file(written(vary(detect()), "varied")).values == plain


def test_version_5_counts_from_0(written):
    text = "".join(epoch(n, (0.1, 0.06, 0.05), head="version 5") for n in (2, 3))
    values = (reading := read_file(written(text))).values
    assert (reading.tool, values["step_base"], values["loss"]["first_step"]) == ("YOLOv5", 0, 2)


def test_a_printed_total_is_taken(written):
    row = "       {n}/4    0.833G    0.1097   0.06319    0.1032    0.27{n}         9       640"
    text = "".join(row.format(n=n) + "         0" * 7 + "\n" for n in range(5))
    reading = read_file(written(text))
    assert (reading.values["loss"]["last"], reading.values["loss"]["points"]) == (0.274, 5)
    assert reading.warnings == []


def test_an_epoch_that_did_not_end_is_left_out(written):
    part = epoch(3, (0.5, 0.5, 0.5), end=" 62%|██████▎   | 5/8 [00:01<00:00,  7.08it/s]\n")
    reading = read_file(written(detect(2) + part.split(SCORED)[0]))
    assert reading.values["loss"]["points"] == 2
    assert "epoch_unfinished" in {warning.code for warning in reading.warnings}
    cut = read_file(written((detect(2) + part.split(SCORED)[0]).rstrip()[:-9], "cut"))
    assert cut.values["loss"]["points"] == 2
    assert "truncated_record" in {warning.code for warning in cut.warnings}


def test_a_resumed_run_and_nan(written):
    text = detect() + epoch(3, (math.nan, 1.0, 1.0))
    reading = read_file(written(text))
    assert {warning.code for warning in reading.warnings} >= {"repeated_steps", "nonfinite_loss"}
    assert (reading.values["loss"]["points"], reading.values["loss"]["last"]) == (3, "nan")


def test_pictures_are_classified_with_one_loss_and_two_scores(written):
    text = "".join(
        f"\n      Epoch    GPU_mem       loss  Instances       Size\n        {n}/3      0.61G      "
        f"0.{n}        16        224: {BAR}\n               classes   top1_acc   top5_acc: {BAR}\n"
        "                   all      0.71      1\n" for n in (1, 2, 3))
    values = read_file(written(text)).values
    assert (values["loss"]["last"], values["evaluation"]["top1_acc"]["last"]) == (0.3, 0.71)


COLUMNS = ("epoch", "time", "train/box_loss", "train/cls_loss", "train/dfl_loss",
           "metrics/precision(B)", "metrics/mAP50-95(B)", "metrics/mAP50-95(M)", "val/box_loss",
           "lr/pg0")


@settings(max_examples=30, derandomize=True, database=None, deadline=None)
@given(order=st.permutations(COLUMNS), padding=st.sampled_from([0, 23]),
       separator=st.sampled_from([",", ";", "\t"]), ends=st.sampled_from(["\n", "\r\n"]),
       losses=st.lists(st.floats(0, 1000), min_size=1, max_size=8))
def test_results_are_read_by_their_names(tmp_path_factory, order, padding, separator, ends, losses):
    rows = [{"epoch": n, "train/box_loss": loss} for n, loss in enumerate(losses, 1)]
    table = [order] + [[row.get(name, 0.5) for name in order] for row in rows]
    text = ends.join(separator.join(str(cell).rjust(padding) for cell in row) for row in table)
    path = tmp_path_factory.mktemp("yolo") / "file"
    path.write_text(text + ends, newline="")
    values = read_file(path).values
    assert (values["loss"]["points"], values["loss"]["first_step"]) == (len(losses), 1)
    assert values["loss"]["last"] == pytest.approx(losses[-1] + 1.0)
    assert set(values["evaluation"]) == {"precision", "map50_95", "mask_map50_95", "val_box_loss"}


def test_a_cut_or_damaged_row_of_results_is_named(written):
    head = "epoch,train/box_loss,train/obj_loss,metrics/mAP_0.5:0.95\n"
    reading = read_file(written(head + "0,1.0,2.0,0.1\n1,x,2.0,0.2\n2,1.5,2.0,0.3\n3,1."))
    assert (reading.values["loss"]["points"], reading.values["loss"]["last"]) == (2, 3.5)
    assert [(w.code, w.line) for w in reading.warnings] == [
        ("truncated_record", 5), ("damaged_lines", 3), ("loss_is_a_sum", None)]
    assert reading.values["evaluation"]["map50_95"]["count"] == 2
