"""msfmktransplt: tables never prove that the run succeeded, its log does."""

import pytest

from toolreaders import read_file


def codes(reading):
    return {warning.code for warning in reading.warnings}


@pytest.mark.parametrize(
    ("name", "rows", "table"),
    [
        ("unsupported_api.csv", 10, "unsupported_api"),
        ("unknown_api.csv", 19, "unknown_api"),
        ("cuda_op_list.csv", 2, "cuda_op_list"),
        ("api_performance_advice.csv", 16, "api_performance_advice"),
    ],
)
def test_tables_are_told_by_content(sample, written, name, rows, table):
    content = sample(f"accuracy/transplant/{name}").read_bytes()
    reading = read_file(written(content, "renamed"))
    assert reading.kind == "migration_analysis"
    assert (reading.values["rows"], reading.values["table"]) == (rows, table)
    assert "run_not_confirmed" in codes(reading)


def test_apis_and_places(sample):
    values = read_file(sample("accuracy/transplant/unsupported_api.csv")).values
    assert values["apis"] == {
        "torch.nn.utils.clip_grad_norm_": 5,
        "torch.nn.DataParallel": 4,
        "torch.nn.CosineEmbeddingLoss": 1,
    }
    assert values["items"][0] == {
        "File": "extract_features.py",
        "Start Line": 249,
        "End Line": 249,
        "OP": "torch.nn.DataParallel",
        "Tips": None,
    }


def test_newlines_in_cells_are_not_rows(sample):
    path = sample("accuracy/transplant/api_performance_advice.csv")
    assert len(path.read_text().splitlines()) == 109
    assert read_file(path).values["rows"] == 16


def test_a_header_alone_is_an_empty_table_of_unclear_name(written):
    reading = read_file(written("File,Start Line,End Line,OP,Tips\n"))
    assert (reading.values["rows"], reading.values["table"]) == (0, None)
    assert "table_unclear" in codes(reading)
    named = read_file(written("File,Start Line,End Line,OP,Tips\n", "unsupported_api.csv"))
    assert named.values["table"] == "unsupported_api"


def test_a_cut_table_says_so(sample, written):
    content = sample("accuracy/transplant/unsupported_api.csv").read_bytes()
    assert "truncated_record" in codes(read_file(written(content[:-40])))


def test_changes(sample):
    reading = read_file(sample("accuracy/transplant/change_list.csv"))
    assert reading.kind == "script_transplant"
    assert reading.values["rows"] == 247
    assert reading.values["operations"] == {"INSERT": 28, "MODIFY": 215, "DELETE": 4}


def test_deleted_imports_are_named(written):
    text = 'File,Start Line,End Line,Operation Type,Message\na.py,3,3,DELETE,"import amp_C"\n'
    reading = read_file(written(text))
    assert reading.values["deleted_imports"] == ["import amp_C"]
    assert "deleted_import" in codes(reading)


def test_log_of_a_finished_migration(sample):
    reading = read_file(sample("accuracy/transplant/msFmkTranspltlog.txt"))
    values = reading.values
    assert reading.kind == "script_transplant"
    assert values["succeeded"] is True
    assert values["lines"] == 62
    assert values["statistics"]["change_list.csv"] == 23
    assert values["output"] == "imagenet_msft"
    assert not codes(reading)


def test_log_of_a_killed_run(sample, written):
    text = sample("accuracy/transplant/msFmkTranspltlog.txt").read_text()
    reading = read_file(written(text[: text.index("MsFmkTransplt run succeeded")]))
    assert reading.values["succeeded"] is False
    assert "run_not_finished" in codes(reading)


def test_log_of_an_analysis(sample):
    reading = read_file(sample("accuracy/transplant/pytorch_analysis.txt"))
    assert reading.kind == "migration_analysis"
    assert reading.values["succeeded"] is True
    assert reading.values["files"] == reading.values["files_completed"] == 15


def test_log_of_2021(sample):
    values = read_file(sample("accuracy/transplant/2021-log.txt")).values
    assert values["succeeded"] is True
    assert values["old_format"] is True
    assert (values["lines"], values["operations"]) == (60, {"UNSUPPORTED": 4, "MODIFY": 6})


def test_a_file_with_a_syntax_error_was_not_analysed(written):
    text = (
        "2026-11-20 23:45:56 [INFO]    PyTorch analysis start working now, please wait.\n"
        "2026-11-20 23:45:57 [INFO]    [Progress:  0.00%]  Start the analysis of old.py.\n"
        "2026-11-20 23:45:58 [WARNING] [Progress:  0.00%]  old.py has unsupported python syntax, "
        "skip.\n"
        "2026-11-20 23:45:59 [INFO]    [Progress:100.00%]  Analyse run succeeded, welcome.\n"
    )
    reading = read_file(written(text))
    assert reading.values["skipped_files"] == ["old.py"]
    assert "file_skipped" in codes(reading)


def test_wrong_number_of_cuda_operators_is_flagged(written):
    text = (
        "2026-11-20 23:45:56 [INFO]    MsFmkTransplt start working now, please wait.\n"
        "2026-11-20 23:45:59 [INFO]    [Progress:100.00%]  MsFmkTransplt run succeeded, welcome.\n"
        "+------------------+------------+\n| cuda_op_list.csv |    224     |\n"
    )
    assert "cuda_op_count_unreliable" in codes(read_file(written(text)))


def test_an_empty_report_does_not_prove_static_shapes(sample):
    dynamic = read_file(sample("accuracy/transplant/report_dynamic.csv"))
    assert dynamic.values["functions"] == [
        "torch.mean", "torch.nonzero", "torch.randint", "torch.relu"
    ]  # fmt: skip
    empty = read_file(sample("accuracy/transplant/report_nostart.csv"))
    assert "detector_not_started" in codes(empty)


def test_the_end_of_an_analysis_tells_its_kind(sample, written):
    lines = sample("accuracy/transplant/pytorch_analysis.txt").read_text().splitlines()
    assert read_file(written("\n".join(lines[-20:]))).kind == "migration_analysis"
