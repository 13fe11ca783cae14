"""Reports of convert_tf2npu, old and new."""

import re
from pathlib import Path

import pytest

from toolreaders import read_file
from toolreaders.conversion.tf_conversion import asks_for_work


def codes(reading):
    return {warning.code for warning in reading.warnings}


def test_brief_report_of_both_layouts(sample):
    new = read_file(sample("accuracy/tf/api_brief_report.txt")).values
    assert (new["layout"], new["total"], new["unsupported"]) == ("new", 27, 1)
    assert new["classes"]["Network training support after migration"] == 7
    assert new["unique"]["total"] == 20
    old = read_file(sample("accuracy/tf/old_brief_report.txt")).values
    assert (old["layout"], old["total"], old["unsupported"]) == ("old", 454, 5)
    assert old["classes"]["NA"] == 12


def test_classes_need_not_add_up(written):
    values = read_file(written("1.In brief: Total API: 12, in which Support: 10\n")).values
    assert (values["total"], values["sum_of_classes"]) == (12, 10)


def test_a_cut_brief_report(written):
    reading = read_file(written("1.In brief: Total API: 12, in which Support: 12\n"))
    assert "truncated_record" in codes(reading)


def test_table(sample):
    values = read_file(sample("accuracy/tf/api_analysis_report.xlsx")).values
    assert values["rows"] == 27
    assert values["classes"]["支持（无需迁移）"] == 15
    assert values["unsupported_apis"] == {"tf.enable_eager_execution": 1}


def test_failed_report_lists_more_than_the_brief(sample):
    reading = read_file(sample("accuracy/tf/failed_report.txt"))
    assert reading.values["apis"] == {
        "tf.enable_eager_execution": 1,
        "hvd.DistributedGradientTape": 1,
        "hvd.broadcast_variables": 2,
    }
    assert "counts_differ_from_brief" in codes(reading)


def test_changes_and_manual_work(sample):
    assert read_file(sample("accuracy/tf/success_report.txt")).values["changes"] == 12
    manual = read_file(sample("accuracy/tf/need_migration_doc.txt")).values
    assert manual["rows"] == 6
    assert manual["items"][0]["line"] == 126


def test_log_and_its_end(sample, written):
    path = sample("accuracy/tf/stdout.log")
    values = read_file(path).values
    assert (values["succeeded"], values["total"], values["files"]) == (True, 27, 1)
    text = path.read_text()
    cut = read_file(written(text[: text.index("1.In brief")]))
    assert cut.values["succeeded"] is False
    assert "run_not_finished" in codes(cut)


def test_compiler_output_is_not_a_success_report(written):
    import pytest

    from toolreaders import ReadError

    with pytest.raises(ReadError):
        read_file(written("a.py:3 E501 line too long\nb.py:4 F401 unused\n"))


@pytest.mark.parametrize(("support", "asks"), [
    ("不支持（不影响迁移，无需干预）", False), ("不支持（无迁移方案，建议不使用）", True),
    ("不支持", True), ("工具迁移后训练功能打通", False), ("支持（无需迁移）", False)])
def test_only_what_stands_in_the_way_asks_for_work(support, asks):
    """get_memory_growth is unsupported and needs no route (seed 000, table 2)."""
    assert asks_for_work(support) is asks


def test_the_seven_classes_stand_with_their_examples():
    text = (Path(__file__).parents[3] / "docs" / "source-scan.md").read_text("utf-8")
    [part] = re.findall(r"## Support classes.*?(?=\n## )", text, re.DOTALL)
    assert part.count("\n| ") == 8  # the head and seven classes
    for example in ("set_memory_growth", "get_memory_growth", "tf.abs", "layers.conv3d"):
        assert example in part
