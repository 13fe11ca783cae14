"""No kind takes for a success, or for “none found”, what was not looked at.

`tests/samples/kinds` holds what one good run of each kind leaves. Every test damages it in one way
and asks the kind again.
"""

from fnmatch import fnmatch
from pathlib import PurePosixPath

import pytest

from tests.workers.kinds.outputs import SAMPLES, Files, good, said
from workers import kinds
from workers.kinds.base import Judgement

pytestmark = pytest.mark.slow

kinds.load_all()
UNKNOWN = b"layout of release 99\nsomething that no reader knows\n"
NOT_FOUND = b"sh: 1: tool-of-the-kind: not found\n"
ERROR = b"[ERROR] 2026-01-01 00:00:00 a part of the work failed and was left out\n"
SERVER = {"evi.bundle", "perf.mbu", "perf.mfu", "perf.throughput", "perf.scaling",
          "acc.loss_compare"}  # read stored files
OF_OTHER_JOBS = {"evi.rerun"}  # judged by the kind of the job that it repeats
# kind -> what differs from the example parameters, the cards leased, and the status of a good run
CASES: dict[str, dict] = {
    "acc.api_check": {"cards": 1}, "acc.graph": {}, "acc.overflow_check": {},
    "acc.asd_run": {"cards": 1}, "acc.compare": {}, "acc.config_check": {}, "acc.config_pack": {},
    "acc.dump": {"parameters": {"ranks": 2}}, "acc.dump_to_npy": {}, "acc.eval": {},
    "acc.om_compare": {"status": 2}, "acc.overflow_parse": {}, "adapt.auto_patch_check": {},
    "adapt.ckpt_check": {}, "adapt.corpus_convert": {}, "adapt.gpu2npu": {},
    "adapt.megatron_train": {"parameters": {"train_iters": 20}, "cards": 8},
    "adapt.onnx_export": {}, "adapt.preprocess": {}, "adapt.smoke_train": {"cards": 1},
    "env.cann_install": {"parameters": {"toolkit": "~/Ascend-cann-toolkit.run",
                                        "nnal": "~/Ascend-cann-nnal.run"}},
    "env.hdk_install": {"parameters": {"driver": "~/Ascend-hdk-910b-npu-driver.run",
                                       "firmware": "~/Ascend-hdk-910b-npu-firmware.run"}},
    "evi.checksums": {}, "env.gpu_probe": {}, "env.host_probe": {},
    "env.mindie_container": {}, "env.mindspeed_install": {}, "env.ms_check": {},
    "env.npu_info": {}, "env.software": {}, "env.tf_check": {}, "env.torch_check": {},
    "env.hccl_test": {"cards": 8}, "env.mindspore_install": {},
    "env.network_check": {"parameters": {"peer": "192.168.1.2"}}, "env.pytorch_install": {},
    "env.tensorflow_build": {}, "env.tools_install": {},
    "env.tensorflow_install": {"parameters": {
        "wheel": "~/wheels/tensorflow-2.6.5-cp39-cp39-linux_aarch64.whl"}},
    "acc.tf_dump": {"cards": 1}, "adapt.code_changes": {}, "perf.aoe_train": {"cards": 1},
    "adapt.corpus_check": {"parameters": {"tests": "~/test.jsonl"}}, "perf.trace_folder": {},
    "inf.atc_singleop": {}, "inf.lite_bench": {"cards": 1}, "inf.vllm_serve": {"cards": 1},
    "inf.vllm_bench": {"parameters": {"concurrencies": "1, 4", "lengths": "16/8"}},
    "inf.atc": {}, "inf.mindie_bench": {}, "inf.mindie_run": {"cards": 1}, "inf.mindie_serve": {},
    "inf.mslite": {}, "inf.om_bench": {"cards": 1}, "inf.overflow_dump": {"cards": 1},
    "inf.pyacl_profile": {"cards": 1}, "inf.quant": {"cards": 1}, "perf.advisor": {},
    "inf.online_run": {"parameters": {"reference": "~/golden"}, "cards": 1},
    "perf.aoe": {"cards": 1}, "perf.cluster": {}, "perf.compare": {},
    "run.command": {"parameters": {"pattern": "epochs finished", "file": "result/*.json"}},
    "perf.mem_peak": {"cards": 2}, "perf.msprof": {"cards": 1}, "perf.profile": {"cards": 1},
    "survey.pt_analyse": {}, "survey.tf_scan": {},
}
# Their log proves nothing: the files do. Of the second group it proves the device or checksums.
FILES_ONLY = {
    "acc.compare", "acc.config_check", "acc.config_pack", "acc.dump", "acc.dump_to_npy",
    "acc.eval", "acc.graph", "acc.tf_dump", "adapt.code_changes", "adapt.corpus_check",
    "perf.aoe_train", "perf.trace_folder", "acc.om_compare", "acc.overflow_parse",
    "adapt.auto_patch_check",
    "adapt.ckpt_check", "adapt.corpus_convert", "adapt.onnx_export", "adapt.preprocess",
    "env.software", "evi.checksums", "inf.om_bench", "inf.vllm_bench", "inf.quant",
    "inf.pyacl_profile",
    "perf.advisor", "perf.cluster", "perf.compare", "perf.msprof", "perf.profile"}
DEVICE_ONLY = {"acc.api_check", "inf.online_run", "inf.overflow_dump", "inf.mindie_serve",
               "inf.vllm_serve",
               "perf.mem_peak", "env.cann_install"}
# Files that must be there although no reader knows them, or that no pattern of the kind names.
MORE_FILES = {"acc.tf_dump": (), "perf.trace_folder": (), "inf.atc": ("*.om",), "inf.atc_singleop":
              ("operators/*.om",),
              "inf.mslite": ("*.mindir",), "inf.overflow_dump": ("*/Opdeb*",),
              "run.command": ("result/*.json",),
              "acc.dump_to_npy": (), "acc.eval": ("*.json",),
              "env.mindspeed_install": ("packages.txt",), "env.software": ("software.*",)}
BY_NAME = {"run.command", "acc.tf_dump", "inf.atc", "inf.atc_singleop", "inf.mslite",
           "acc.dump_to_npy",
           "inf.overflow_dump"}  # content not read
TRAININGS = {"adapt.smoke_train", "acc.asd_run", "adapt.megatron_train", "perf.msprof"}
# kind -> kinds whose output is also one of its own: a training is one, whoever starts it
ALSO_RIGHT = {**dict.fromkeys(("adapt.smoke_train", "acc.asd_run"), TRAININGS),
              "perf.msprof": {"inf.pyacl_profile"}, "inf.pyacl_profile": {"perf.msprof"},
              "env.npu_info": {"env.hdk_install"}, "perf.aoe_train": {"perf.aoe"}}


@pytest.fixture
def judged(judge):
    def of_case(code: str, files: Files, status: int | None = None) -> Judgement:
        case = CASES[code]
        return judge(code, files, status=case.get("status", 0) if status is None else status,
                     cards=case.get("cards", 0), **case.get("parameters", {}))

    return of_case


def evidence(code: str) -> list[str]:
    """Files of the good run on which its success rests, without the log."""
    patterns = (*kinds.get(code).judged_files, *MORE_FILES.get(code, ()))
    return [name for name, content in good(code).items() if name != "log.txt" and content
            and any(fnmatch(name, pattern) for pattern in patterns)]


def with_middle(log: bytes, line: bytes) -> bytes:
    lines = log.splitlines(keepends=True)
    return b"".join([*lines[:len(lines) // 2], line, *lines[len(lines) // 2:]])


def cut(content: bytes) -> bytes:
    """The first half, ended inside of a line."""
    half = content[:len(content) // 2]
    return half[:half.rfind(b"\n") - 3] if b"\n" in half[4:] else half


def sibling(code: str, name: str) -> str | None:
    """The name of one more file of the same kind; None where there can be one only."""
    path = PurePosixPath(name)
    names = [path.with_name(f"more_{path.name}"), path.parent.parent / "more" / path.name]
    patterns = (*kinds.get(code).judged_files, *MORE_FILES.get(code, ()))
    return next((str(other) for other in names
                 if any(fnmatch(str(other), pattern) for pattern in patterns)), None)


def test_every_kind_has_its_cases():
    known = {kind.code for kind in kinds.all_kinds() if not kind.code.startswith("test.")}
    assert set(CASES) | SERVER | OF_OTHER_JOBS == known
    assert {folder.name for folder in SAMPLES.iterdir()} == set(CASES)


def test_every_kind_that_holds_cards_says_what_it_claims_of_them():
    silent = {kind.code for kind in kinds.all_kinds() if kind.code in CASES
              and kind.cards_for(kind.clean(kind.example_parameters()))
              and not kind.claims_device}
    # what they leave is the same wherever it was computed
    assert silent == {"acc.config_pack", "acc.dump", "acc.tf_dump", "acc.eval",
    "adapt.onnx_export", "inf.quant"}


@pytest.mark.parametrize("code", CASES)
def test_the_good_run_is_a_success(judged, code):
    judgement = judged(code, good(code))
    assert judgement.is_success, said(judgement)


@pytest.mark.parametrize("code", CASES)
def test_empty_output(judged, code):
    assert not judged(code, {"log.txt": b""}).is_success
    if code not in FILES_ONLY:
        assert not judged(code, {**good(code), "log.txt": b""}).is_success


@pytest.mark.parametrize("status", [126, 127])
@pytest.mark.parametrize("code", CASES)
def test_missing_tool(judged, code, status):
    for files in ({"log.txt": NOT_FOUND}, {**good(code), "log.txt": NOT_FOUND}):
        judgement = judged(code, files, status)
        assert not judgement.is_success
        assert "tool-of-the-kind" in said(judgement)


@pytest.mark.parametrize("code", CASES)
def test_other_status(judged, code):
    assert not judged(code, good(code), 1).is_success
    assert not judged(code, good(code), 137).is_success


@pytest.mark.parametrize("code", CASES)
def test_wrong_layout(judged, code):
    for name in () if code in BY_NAME else evidence(code):
        judgement = judged(code, {**good(code), name: UNKNOWN})
        assert not judgement.is_success or name in said(judgement), (name, said(judgement))
    if code not in FILES_ONLY | DEVICE_ONLY:
        assert not judged(code, {**good(code), "log.txt": UNKNOWN}).is_success


@pytest.mark.parametrize("code", CASES)
def test_output_of_another_kind(judged, code):
    alike = {code, *ALSO_RIGHT.get(code, ())}
    taken = [other for other in CASES
             if other not in alike and judged(code, good(other)).is_success]
    assert taken == []


@pytest.mark.parametrize("code", CASES)
def test_partial_output(judged, code):
    files = good(code)
    for name in evidence(code):
        without = {other: content for other, content in files.items() if other != name}
        assert not judged(code, without).is_success, name
        if code not in BY_NAME:
            half = judged(code, {**files, name: cut(files[name])})
            assert not half.is_success or name in said(half), (name, said(half))
    if code not in FILES_ONLY | DEVICE_ONLY:
        half = judged(code, {**files, "log.txt": cut(files["log.txt"])})
        assert not half.is_success, said(half)


@pytest.mark.parametrize("code", CASES)
def test_error_in_the_middle(judged, code):
    files = good(code)
    judgement = judged(code, {**files, "log.txt": with_middle(files["log.txt"], ERROR)})
    assert not judgement.is_success or "a part of the work failed" in said(judgement)
    assert judgement.is_success in (False, kinds.get(code).may_log_errors)


@pytest.mark.parametrize("code", CASES)
def test_one_unreadable_file_among_readable_ones(judged, code):
    for name in () if code in BY_NAME else evidence(code):
        if other := sibling(code, name):
            judgement = judged(code, {**good(code), other: UNKNOWN})
            assert not judgement.is_success or other in said(judgement), (other, said(judgement))
