"""Archives from outside: bombs, paths that lead out, cut files and documents with entities."""

import gzip
import io
import zipfile

import openpyxl
import pytest

from toolreaders import ReadError, read_file, source

WORKBOOK = "xl/workbook.xml"


def code_of(path):
    with pytest.raises(ReadError) as error:
        read_file(path)
    return error.value.code


def archive(**members):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as pack:
        for name, content in members.items():
            pack.writestr(name, content)
    return data.getvalue()


@pytest.mark.slow
def test_too_large_archive(written):
    bomb = archive(**{WORKBOOK: bytes(250 * 1024**2)})
    assert len(bomb) < 300 * 1024
    assert code_of(written(bomb)) == "too_large"


def test_suspicious_ratio(written):
    assert code_of(written(archive(**{WORKBOOK: bytes(30 * 1024**2)}))) == "unsafe_archive"


@pytest.mark.parametrize("name", ["../evil", "/etc/passwd", "a/../../b", "..\\evil", "C:\\evil"])
def test_paths_that_lead_out(written, name):
    assert code_of(written(archive(**{name: b"x", "env": b"{}"}))) == "unsafe_archive"


def test_cut_archive(sample, written):
    whole = sample("accuracy/config_check/result.xlsx").read_bytes()
    assert code_of(written(whole[:-200])) == "damaged_zip"
    assert code_of(written(whole[: len(whole) // 2])) == "damaged_zip"


def test_broken_part(sample, written):
    whole = bytearray(sample("accuracy/config_check/result.xlsx").read_bytes())
    for place in range(200, 3000, 7):
        whole[place] ^= 0x55
    assert code_of(written(bytes(whole))) in ("damaged_xlsx", "damaged_zip")


def test_entities_are_refused(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["NPU Name", "Bench Name", "Result"])
    book.save(tmp_path / "good.xlsx")
    evil = tmp_path / "evil.xlsx"
    with zipfile.ZipFile(tmp_path / "good.xlsx") as good, zipfile.ZipFile(evil, "w") as bad:
        for name in good.namelist():
            content = good.read(name)
            if name == WORKBOOK:
                head = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
                content = content.replace(b"<workbook", head + b"<workbook", 1)
            bad.writestr(name, content)
    assert code_of(evil) == "damaged_xlsx"


def test_declared_dimensions_are_not_believed(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["NPU Name", "Bench Name", "NPU Requires_grad", "Result", "Err_message"])
    book.active.append(["a.forward.input.0", "a.forward.input.0", "False", "pass", "[]"])
    book.save(tmp_path / "good.xlsx")
    path = tmp_path / "wide.xlsx"
    with zipfile.ZipFile(tmp_path / "good.xlsx") as good, zipfile.ZipFile(path, "w") as wide:
        for name in good.namelist():
            content = good.read(name)
            if name.startswith("xl/worksheets/"):
                content = content.replace(b'ref="A1:E2"', b'ref="A1:XFD1048576"')
            wide.writestr(name, content)
    assert read_file(path).values["rows"] == 1


def test_other_archives_are_unknown(written):
    assert code_of(written(archive(readme=b"hello"))) == "unknown_format"


def test_text_that_unpacks_without_end_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "BOMB_BYTES", 2**20)
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(b" iteration 1/ 2 | lm loss: 1.0E+00 |\n" * 200_000))
    with pytest.raises(ReadError, match="unsafe_archive"):
        next(source.Source(path).blocks())


def test_json_of_countless_values_is_refused_before_it_is_parsed(written, monkeypatch):
    monkeypatch.setattr(source, "MAX_JSON_BYTES", 100_000)
    for text in ('{"log_history": [' + "{}," * 2000 + "{}]}", "[" + "0.1," * 5000 + "1]"):
        assert code_of(written(text)) == "too_large"


def test_json_lines_are_not_one_costly_json(written, monkeypatch):
    monkeypatch.setattr(source, "MAX_JSON_BYTES", 1000)
    lines = "".join(f'{{"step": {n}, "loss": 1.5}}\n' for n in range(1, 200))
    assert read_file(written(lines)).values["loss"]["points"] == 199
