"""HCCL Performance Tester's table: the largest size counts; an unchecked result says so."""

import pytest

from toolreaders import ReadError, read_file

HEAD = "data_size(Bytes): | aveg_time(us): | alg_bandwidth(GB/s): | check_result:\n"
ROWS = "8192 | 245.98 | 0.03330 | success\n16384 | 250.10 | 0.06551 | NULL\n"


def read(tmp_path, text):
    (tmp_path / "log.txt").write_text(text)
    return read_file(tmp_path / "log.txt")


def test_rows_with_prefixes_and_other_lines_between(tmp_path):
    text = ("the minbytes is 8192, maxbytes is 16384, iters is 20, warmup_iters is 5\n" + HEAD
            + ROWS.replace("\n16384", "\n[INFO] link is up\n16384"))
    reading = read(tmp_path, text)
    assert (reading.kind, reading.values["largest_bytes"], reading.values["bandwidth_gb_s"],
            reading.values["failed"], reading.values["unchecked"], reading.values["iterations"],
            ) == ("hccl_test", 16384, 0.06551, 0, 1, 20)


def test_a_wrong_result_is_a_warning_with_its_line(tmp_path):
    reading = read(tmp_path, HEAD.replace("aveg", "avg") + ROWS.replace("NULL", "failed"))
    assert [(warning.code, warning.line) for warning in reading.warnings] == [("wrong_result", 3)]


@pytest.mark.parametrize("text", [HEAD, HEAD + "mpirun noticed that process rank 0 exited\n"])
def test_a_table_without_rows_is_refused(tmp_path, text):
    with pytest.raises(ReadError, match="no row"):
        read(tmp_path, text)
