"""Opening, decoding and recognising files."""

import gzip
import io
import json
import tarfile

import pytest
from django.core.management import call_command

from toolreaders import ReadError, load_readers, read_file
from toolreaders.source import Source

LOG = "iter 0: loss 4.1, time 90.00ms, mfu 1.00%\niter 1: loss 3.9, time 80.00ms, mfu 1.00%\n"


def code_of(path) -> str:
    with pytest.raises(ReadError) as error:
        read_file(path)
    return error.value.code


def test_readers_have_distinct_names_and_a_kind():
    readers = load_readers()
    assert len({reader.name for reader in readers}) == len(readers)
    assert all(reader.kind for reader in readers)


@pytest.mark.parametrize("content", [b"", b" \n\t\r\n", b"\xef\xbb\xbf", b"\x00" * 100])
def test_a_file_without_content_is_empty(written, content):
    assert code_of(written(content)) == "empty_file"


def test_what_cannot_be_a_file(tmp_path):
    assert code_of(tmp_path) == "is_directory"
    assert code_of(tmp_path / "absent") == "not_found"


@pytest.mark.parametrize(
    "content", ["Dear all,\nthe meeting is at ten.\n", b"\x7fELF\x02\x01" * 50]
)
def test_content_nobody_knows(written, content):
    assert code_of(written(content)) == "unknown_format"


def test_an_archive_is_not_what_it_holds(written):
    member = tarfile.TarInfo("train.log")
    member.size = len(LOG)
    with tarfile.open(fileobj=(packed := io.BytesIO()), mode="w") as archive:
        archive.addfile(member, io.BytesIO(LOG.encode()))
    for data in (packed.getvalue(), gzip.compress(packed.getvalue())):
        assert code_of(written(data)) == "unknown_format"


def test_json_that_is_cut_off_is_damaged(written):
    assert code_of(written('{"log_history": [{"loss": 1.0, "step": 1}, {"lo')) == "damaged_json"


def test_the_name_of_a_file_does_not_matter(written):
    assert read_file(written(LOG, "picture.png")).values["loss"]["points"] == 2


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(LOG.encode()),
        b"\xef\xbb\xbf" + LOG.encode(),
        b"\xff\xfe" + LOG.encode("utf-16-le"),
        ("训练开始\n" + LOG).encode("gb18030"),
        LOG.replace("iter", "\x1b[32miter\x1b[0m").encode(),
        LOG.replace("\n", "\r").encode(),
        LOG.replace("\n", "\r\n").encode(),
        LOG.encode("utf-16-le"),
        LOG.replace("iter 1", "\x00\x00\x00iter 1").encode(),
    ],
    ids=["gzip", "bom", "utf16", "gbk", "ansi", "cr", "crlf", "utf16 without mark", "nul"],
)
def test_every_encoding_gives_the_same_curve(written, content):
    loss = read_file(written(content)).values["loss"]
    assert (loss["points"], loss["first"], loss["last"]) == (2, 4.1, 3.9)


def test_gbk_text_is_decoded(written):
    source = Source(written("显存不足\n".encode("gbk")))
    assert list(source.lines()) == [(1, "显存不足")]


@pytest.mark.parametrize(("lost", "code"), [(b"\xff\xfe\xff", "undecodable_text"),
                                            (b"\0\0\0", "nul_bytes")])
def test_characters_that_are_lost_are_a_warning(written, lost, code):
    reading = read_file(written(LOG.encode() + lost + b"\n"))
    assert [(warning.code, warning.line) for warning in reading.warnings] == [(code, 3)]


def test_a_hole_never_joins_what_stands_beside_it(written):
    values = read_file(written(LOG.replace("3.9", "3.\0\0\0009"))).values
    assert (values["loss"]["points"], values["loss"]["last"]) == (1, 4.1)
    assert code_of(written('{"log_history": [{"loss": 1.\x005, "step": 1}]}')) == "damaged_json"


def test_a_file_that_ends_within_a_line_says_so(written):
    [warning] = read_file(written(LOG + "step 3: train loss 1.5, val loss 1.4")).warnings
    assert (warning.code, warning.line) == ("unfinished_line", 3)


def test_damaged_gzip(written):
    packed = gzip.compress(LOG.encode() * 5000)
    assert code_of(written(packed[: len(packed) // 2])) == "damaged_gzip"


@pytest.mark.slow
def test_a_record_after_long_noise_is_found(written):
    noise = "INFO loading a shard of the data set\n" * 20_000
    assert read_file(written(noise + LOG)).values["loss"]["points"] == 2


def test_values_are_strict_json(written):
    reading = read_file(written(LOG + "iter 2: loss nan, time 80.00ms, mfu 1.00%\n"))
    assert reading.values["loss"]["last"] == "nan"
    json.dumps(reading.values, allow_nan=False)


def test_the_command_prints_one_object_per_file_and_fails_for_one(written, tmp_path, capsys):
    good, bad = written(LOG, "good"), written("nothing of interest\n", "bad")
    with pytest.raises(SystemExit) as stop:
        call_command("read", str(good), str(bad), "--json")
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert stop.value.code == 1
    assert (first["file"], first["kind"], first["tool"]) == (str(good), "training_log", "nanoGPT")
    assert first["values"]["loss"]["last_step"] == 1
    assert second == {
        "file": str(bad),
        "kind": None,
        "error": {"code": "unknown_format", "message": (
            "No reader knows this content; give the file as the tool wrote it.")},
    }


def test_the_command_without_json_succeeds_for_a_good_file(written, capsys):
    call_command("read", str(written(LOG)))
    assert "training_log (nanoGPT)" in capsys.readouterr().out


MEGABYTE = 1024**2


@pytest.mark.slow
def test_a_line_without_end_costs_no_memory(written):
    text = b"step 1 loss 1.0\nstep 2 loss " + b" " * 12 * MEGABYTE + b"9\nstep 3 loss 3.0\n"
    path = written(text + b"step 4 loss 4.0\nstep 5 loss 5.0\n")
    assert max(map(len, Source(path).chunks())) < 10 * MEGABYTE
    reading = read_file(path)
    assert reading.values["loss"]["points"] == 4
    assert ("long_line", 2) in {(warning.code, warning.line) for warning in reading.warnings}


def test_a_long_progress_bar_keeps_its_line_numbers(written):
    bar = b"\r".join(b"%99d" % n for n in range(110_000))
    lines = list(Source(written(b"a\n" + bar + b"\nb\n")).lines())
    assert lines[-1] == (3, "b")
    assert {number for number, _text in lines} == {1, 2, 3}
    assert len([text for number, text in lines if number == 2 and text.strip()]) == 110_000


@pytest.mark.slow
def test_a_gzip_bomb_is_refused_early(written):
    with pytest.raises(ReadError) as error:
        read_file(written(gzip.compress(b"step 1 loss 1\n" * 3 + bytes(80 * MEGABYTE), 9)))
    assert error.value.code == "unsafe_archive"


def test_records_read_one_by_one_are_bounded(written, monkeypatch):
    monkeypatch.setattr("toolreaders.training.series.MOST_RECORDS", 3)
    for line in ("{0},1.5\n", "step {0} loss 1.5\n"):
        text = "step,loss\n" * line.endswith(",1.5\n") + "".join(map(line.format, range(5)))
        with pytest.raises(ReadError) as error:
            read_file(written(text))
        assert error.value.code == "too_large"
