"""What pip is asked for, and what its list has to show."""

import pytest

from engagements.errors import InvalidInput
from tests.workers.kinds.outputs import good, text_of
from workers import kinds
from workers.kinds.environment.network import size_in_bytes
from workers.kinds.environment.python_packages import wanted_package


@pytest.mark.parametrize(("word", "wanted"), [
    ("torch==2.1.0", ("torch", "==", "2.1.0")), ("google_pasta", ("google-pasta", "", "")),
    ("pandas>=1.2.4", ("pandas", ">=", "1.2.4")),
    ("~/w/npu_bridge-1.15.0-py3-none-any.whl", ("npu-bridge", "==", "1.15.0")),
    ("/w/torch_npu-2.1.0.post13-cp39-cp39-manylinux_2_17_aarch64.whl",
     ("torch-npu", "==", "2.1.0.post13")),
])
def test_words_for_pip(word, wanted):
    assert wanted_package(word) == wanted


@pytest.mark.parametrize("word", ["--pre", "a b", "torch=2.1", "torch==", "x.whl", ""])
def test_other_words_are_refused(word):
    with pytest.raises(InvalidInput):
        wanted_package(word)


@pytest.mark.parametrize(("code", "values"), [
    ("env.pytorch_install", {"more": "numpy --upgrade"}),
    ("env.pytorch_install", {"wheelhouse": "~/w", "index": "https://index.example"}),
    ("env.tensorflow_install", {"wheel": "~/w/tensorflow.zip"}),
    ("env.tools_install", {"msprobe": False, "msprof_analyze": False}),
    ("env.hccl_test", {"smallest": "1G"}), ("env.hccl_test", {"largest": "8X"}),
])
def test_contradictions_are_refused(code, values):
    kinds.load_all()
    with pytest.raises(InvalidInput):
        kinds.get(code).clean({"confirmed": True, **values})


def test_sizes_count_as_the_tester_counts():
    assert [size_in_bytes(text) for text in ("512", "8K", "64m", "1G")] == [
        512, 8192, 64 * 1024**2, 1024**3]


def test_another_version_than_asked_for_is_no_success(judge):
    files = {**good("env.pytorch_install")}
    files["packages.txt"] = files["packages.txt"].replace(b"2.1.0.post13", b"2.1.0.post8 ")
    judgement = judge("env.pytorch_install", files)
    assert not judgement.is_success
    assert "torch-npu 2.1.0.post8" in text_of(judgement)


def test_a_build_for_the_processor_is_the_asked_for_version(judge):
    files = {**good("env.pytorch_install")}
    files["packages.txt"] = files["packages.txt"].replace(
        b"2.1.0\n", b"2.1.0+cpu\n")
    assert judge("env.pytorch_install", files).is_success


def test_a_table_that_ends_early_is_no_success(judge):
    files = {**good("env.hccl_test")}
    files["log.txt"] = b"\n".join(files["log.txt"].splitlines()[:-1]) + b"\n"
    judgement = judge("env.hccl_test", files, cards=8)
    assert not judgement.is_success
    assert "ends before the largest size" in text_of(judgement)
