"""A reader is chosen on the whole file: its beginning, its middle, its end, then every line."""

import gzip
import lzma
import time

import pytest

from toolreaders import ReadError, read_file
from toolreaders.packing import MAX_XZ_MEMORY
from toolreaders.prefixes import Prefixes, prefixes_of

NANOGPT = "".join(f"iter {n}: loss {4 - n / 10:.4f}, time 90.00ms, mfu 1.00%\n" for n in range(9))
KERAS = "".join(f"step {n}, total loss = {3 - n / 10:.3f}\n" for n in range(9))
SERVED = """\
============ Serving Benchmark Result ============
Successful requests:                     200
Benchmark duration (s):                  20.00
Total generated tokens:                  20000
Request throughput (req/s):              10.00
Output token throughput (tok/s):         1000.00
Mean TTFT (ms):                          55.50
==================================================
"""
TABLE = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 25.0.rc1                 Version: 25.0.rc1                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 3     910B3               | OK            | 90.5        41                NA    / NA           |
| 0                         | 0000:01:00.0  | 7           NA   / 0          4123 / 65536         |
+===========================+===============+====================================================+
"""
PIP = "torch==2.1.0\ntorch-npu==2.1.0.post3\ntransformers==4.40.0\n"


def noise(count, word="shard"):
    lines = (f"INFO loading {word} {n} of the data set, {n / 7:.3f} s\n" for n in range(count))
    return "".join(lines)


@pytest.mark.parametrize(("text", "kind"), [
    (NANOGPT, "training_log"), (KERAS, "training_log"), (SERVED, "inference_benchmark")])
@pytest.mark.parametrize(("before", "after"), [
    (9_000, 0), (9_000, 9_000), pytest.param(150_000, 2_000, marks=pytest.mark.slow)])
def test_what_stands_behind_much_noise_is_found(text, kind, before, after, written):
    began = time.process_time()
    reading = read_file(written(noise(before) + text + noise(after, "file")))
    assert reading.kind == kind
    assert time.process_time() - began < 30


@pytest.mark.slow
@pytest.mark.parametrize("state", [TABLE, PIP])
@pytest.mark.parametrize("count", [0, 9_000])
def test_what_a_script_prints_of_the_machine_is_not_what_the_log_is(state, count, written):
    text = state + noise(count) + NANOGPT * 3 + noise(count)
    if count:  # the curve goes on to the end, as in a training
        text = state + noise(count) + NANOGPT + noise(count) + NANOGPT.replace("iter ", "iter 1")
    assert read_file(written(text)).kind == "training_log"
    assert read_file(written(TABLE + noise(count))).kind == "npu_smi"


@pytest.mark.slow
def test_a_table_is_told_by_its_header_alone(written):
    rows = "".join(f"{n},{3 - n / 30000:.4f}\n" for n in range(40_000))
    reading = read_file(written("step,loss\n" + rows))
    assert (reading.reader, reading.values["loss"]["points"]) == ("csv_training_log", 40_000)


@pytest.mark.slow
def test_a_file_of_unlike_lines_that_was_not_searched_to_its_end_is_not_called_unknown(
        written, monkeypatch):
    monkeypatch.setattr("toolreaders.sample.MOST_DIGESTED", 1024**2)
    lines = "".join(f"{'abcdefgh'[n % 8] * (n % 997)} {n}\n" for n in range(9_000))
    with pytest.raises(ReadError, match="partly_searched"):
        read_file(written(lines))


@pytest.mark.slow
def test_losses_are_found_amid_chatter_that_is_nowhere_alike(written, monkeypatch):
    monkeypatch.setattr("toolreaders.sample.MOST_DIGESTED", 1)
    chatter = "".join(f"{'abcdefgh'[n % 8] * (n % 997)} {n}\n" for n in range(9_000))
    losses = "".join(f" iteration {n}/ 9 | lm loss: {3 - n / 9:.6E} | grad norm: 1.2 |\n"
                     for n in range(1, 10))
    third = chatter.index("\n", len(chatter) // 3) + 1
    reading = read_file(written(chatter[:third] + losses + chatter[third:]))
    assert (reading.kind, reading.values["loss"]["points"]) == ("training_log", 9)


@pytest.mark.slow
@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
@pytest.mark.parametrize(("text", "kind"), [
    (NANOGPT, "training_log"), (SERVED, "inference_benchmark"), (TABLE, "npu_smi"),
    (noise(9_000) + SERVED + noise(9_000), "inference_benchmark")])
def test_packed_files(pack, text, kind, written):
    packed = pack(text.encode())
    assert read_file(written(packed)).kind == kind
    assert read_file(written(pack(b"") + packed)).kind == kind
    with pytest.raises(ReadError, match=r"damaged_(?:gzip|xz)"):
        read_file(written(packed[: len(packed) // 2]))


@pytest.mark.slow
def test_an_xz_file_that_takes_much_memory_is_refused(written):
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 2 * MAX_XZ_MEMORY}]
    with pytest.raises(ReadError, match="damaged_xz"):
        read_file(written(lzma.compress(NANOGPT.encode() * 100, filters=filters)))


@pytest.mark.slow
def test_an_xz_bomb_is_refused(written):
    text = b"step 1 loss 1\n" * 3 + bytes(80 * 1024**2)
    with pytest.raises(ReadError, match="unsafe_archive"):
        read_file(written(lzma.compress(text, preset=1)))


PREFIXES = ["npu-1  | ", "deploy_web_1 | ", "vllm   | ", "[pod/train-0/main] ", "0: ", " 3: "]


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("text", [TABLE, SERVED, NANOGPT])
def test_the_prefix_of_a_container_is_taken_off(prefix, text, written):
    prefixed = "".join(prefix + line for line in text.splitlines(keepends=True))
    plain = read_file(written(text))
    assert read_file(written(prefixed)).values == plain.values
    coloured = prefixed.replace(prefix, f"\x1b[36m{prefix}\x1b[0m")
    assert read_file(written("Attaching to npu-1\n" + coloured)).kind == plain.kind


@pytest.mark.parametrize("prefixes", [("0: ", "1: "), ("npu-1  | ", "npu-2  | ")])
@pytest.mark.parametrize("text", [TABLE, SERVED])
def test_outputs_of_several_tasks_are_not_mixed(prefixes, text, written):
    lines = [prefix + line for line in text.splitlines(keepends=True) for prefix in prefixes]
    with pytest.raises(ReadError, match="several_outputs"):
        read_file(written("".join(lines)))


@pytest.mark.parametrize("text", [TABLE, SERVED, NANOGPT, "loss: 3.5\nloss: 3.4\nloss: 3.3\n",
                                  "a | 1\nb | 2\nc | 3\nd | 4\n"])
def test_what_is_no_prefix_stays(text):
    assert prefixes_of(text.encode()) == Prefixes()
