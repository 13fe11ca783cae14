"""Configuration checks and packs: the exchanged sheet, and no secret ever leaves the reader."""

import csv
import io
import json
import zipfile

import openpyxl
import pytest

from toolreaders import read_file
from toolreaders.masking import MASK, is_secret_name, mask_text


def codes(reading):
    return {warning.code for warning in reading.warnings}


def workbook(tmp_path, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(tmp_path / "result.xlsx")
    return tmp_path / "result.xlsx"


def env_sheet(*rows):
    return [["bench_env_name", "cmp_env_name", "bench_value", "cmp_value", "level"], *rows]


SUMMARY = [["filename", "pass_check"], ["env", "error"]]


def test_differences_of_two_packs(sample):
    reading = read_file(sample("accuracy/config_check/result.xlsx"))
    values = reading.values
    assert reading.kind == "config_check"
    assert values["summary"] == {
        "env": "error", "pip": "pass", "dataset": "error", "weights": "error",
        "hyperparameters": "error", "random": "pass",
    }  # fmt: skip
    assert values["sheets"]["env"]["levels"] == {"error": 4, "warning": 2}
    assert values["sheets"]["dataset"] | {"columns": None} == {
        "columns": None, "rows": 2, "different": 2, "levels": {"error": 2}
    }  # fmt: skip
    assert values["counts"]["by_sheet"]["weights"] == 5
    assert values["passed"] is False
    lr = next(d for d in values["differences"] if d["item"] == "lr")
    assert (lr["npu"], lr["bench"], lr["level"]) == ("1.5e-5", "1.5e-4", "error")
    weight = next(d for d in values["differences"] if d["item"] == "step 0 rank 0 0.weight")
    assert weight["relative_diff"]["norm"] == pytest.approx(0.5)
    assert "seeds_not_compared" in codes(reading)


def test_sheet_env_is_put_right(sample):
    reading = read_file(sample("accuracy/config_check/result.xlsx"))
    algo = next(d for d in reading.values["differences"] if d["item"] == "HCCL_ALGO")
    assert (algo["npu"], algo["bench"], algo["bench_name"]) == (None, "Ring", "NCCL_ALGO")
    assert "env_columns_exchanged" in codes(reading)


def test_sheet_env_that_is_right_already_stays(tmp_path):
    path = workbook(
        tmp_path,
        summary=SUMMARY,
        env=env_sheet(["NCCL_ALGO", "HCCL_ALGO", "Ring", "Tree", "error"]),
    )
    reading = read_file(path)
    assert reading.values["differences"][0]["npu"] == "Tree"
    assert "env_columns_exchanged" not in codes(reading)


def test_missing_sheets_were_not_compared(tmp_path):
    reading = read_file(workbook(tmp_path, summary=SUMMARY, env=env_sheet()))
    assert reading.values["not_compared"] == [
        "pip", "hyperparameters", "dataset", "weights", "random"
    ]  # fmt: skip
    assert "not_compared" in codes(reading)
    assert reading.values["passed"] is False  # the summary says error


def test_a_summary_that_contradicts_its_sheet(tmp_path):
    path = workbook(
        tmp_path,
        summary=[["filename", "pass_check"], ["pip", "pass"]],
        pip=[["package", "bench version", "cmp version", "level"], ["numpy", "1", "2", "error"]],
    )
    assert "summary_contradicts_sheet" in codes(read_file(path))


def test_secrets_of_the_sheet_are_masked(tmp_path):
    path = workbook(
        tmp_path,
        summary=SUMMARY,
        env=env_sheet(
            ["HF_TOKEN", "HF_TOKEN", "hunter2", "hunter3", "error"],
            ["HTTP_PROXY", "HTTP_PROXY", "http://joe:hunter4@proxy:80", "", "error"],
        ),
        hyperparameters=[
            ["file_name", "bench_para", "cmp_para", "bench_value", "cmp_value", "matched_with",
             "level"],
            ["x.json", "api_key", "api_key", "hunter5", "hunter6", "pure name", "error"],
            ["x.json", "num_key_value_heads", "num_key_value_heads", "8", "4", "pure", "error"],
        ],
    )  # fmt: skip
    reading = read_file(path)
    assert "hunter" not in json.dumps(reading.values)
    heads = next(d for d in reading.values["differences"] if "heads" in d["item"])
    assert (heads["npu"], heads["bench"]) == ("4", "8")


def test_a_pack_shows_steering_variables_only(sample):
    reading = read_file(sample("accuracy/config_check/cmp_npu.zip"))
    values = reading.values
    assert values["environment"]["HCCL_DETERMINISTIC"] == "True"
    assert values["environment"]["HOME"] == MASK
    assert (values["steps"], values["ranks"]) == ([0, 1], [0])
    assert reading.tool_version == "26.2.0"


def test_secrets_of_a_pack_are_masked(tmp_path):
    path = tmp_path / "pack.zip"
    with zipfile.ZipFile(path, "w") as pack:
        pack.writestr("env", json.dumps({"AWS_SECRET_ACCESS_KEY": "hunter1", "MY_LOGIN": "hunter2",
                                         "NCCL_URL": "http://u:hunter3@h/"}))  # fmt: skip
        pack.writestr("hyperparameters/a.json", json.dumps({"a": {"wandb_api_key": "hunter4"}}))
    assert "hunter" not in json.dumps(read_file(path).values)


def test_verl_table(sample):
    values = read_file(sample("accuracy/config_check/hyper_params_compare.csv")).values
    assert values["sheets"]["hyperparameters"]["answers"] == {"是": 36, "否": 4}
    eager = next(d for d in values["differences"] if d["item"].endswith("enforce_eager"))
    assert (eager["npu"], eager["bench"]) == (None, "True")


def test_verl_secret(written):
    text = io.StringIO()
    csv.writer(text).writerows(
        [
            ["超参名称", "NPU生效值", "bench生效值", "是否一致"],
            ["trainer/token", "hunter", "x", "否"],
        ]
    )
    assert "hunter" not in json.dumps(read_file(written(text.getvalue())).values)


@pytest.mark.parametrize(
    "name",
    ["HF_TOKEN", "accessKey", "AK", "DB_PWD", "OPENAI_API_KEY", "SSH_AUTH_SOCK", "cookie", "SK",
     "TOKENIZER_API_KEY", "private-key", "MYSQL_PASSWORD"],
)  # fmt: skip
def test_secret_names(name):
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name", ["PWD", "num_key_value_heads", "max_tokens", "TOKENIZERS_PARALLELISM", "MONKEY", "lr"]
)
def test_harmless_names(name):
    assert not is_secret_name(name)


def test_texts_lose_their_secrets():
    masked = mask_text("--password abc http://u:p@h/ X_TOKEN=abc hf_abcdefghijklmnopqrstu")
    assert masked == "--password ****** http://******@h/ X_TOKEN=****** ******"
    assert mask_text("the token is gone") == "the token is gone"
