"""What stands around the lines of an output is taken off before any reader sees them."""

import pytest

from toolreaders import ReadError, read_file
from toolreaders.wrapping import wrapping_of

SAMPLES = ("node/24.1.rc1.b030_910B3_8cards.txt", "performance/ascend_qwen3-8b_serve.console.txt",
           "performance/msame_3dunet_bs1.txt", "training/ng_bf16_int10.log",
           "training/mnist_S_fp32.log", "training/mindspeed_llm_fsdp2_excerpt.log",
           "performance/memory_summary_optimised.txt", "node/pip_frameworks.txt")
PREFIXES = {
    "CRI": "2025-02-06T08:11:{:02}.123456789Z stdout F ",
    "docker": "2025-02-06T08:11:{:02}.123456789+08:00 ",
    "syslog": "Feb  6 08:11:{:02} node1 python[12]: ",
    "journald": "2025-02-06T08:11:{:02}+0800 node1 python[12]: ",
    "Kubernetes": "[pod/train-0/main] ",
    "mpirun": "[1,0]<stdout>:",
    "Ray": "(WorkerDict pid=123, ip=10.0.0.7) ",
    "vLLM": "(Worker_TP3 pid=12) ERROR 10-12 08:11:{:02} [multiproc_executor.py:59] ",
    "stamp": "[2025-02-06 08:11:{:02},123] ",
    "quotation": "> ",
    "quotation of a quotation": "> > ",
    "comment": "# ",
    "two layers": "npu-1  | 2025-02-06T08:11:{:02}Z ",
}


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
@pytest.mark.parametrize("name", SAMPLES)
def test_a_prefix_of_each_line_changes_no_value(name, prefix, sample, written):
    lines = sample(name).read_text().splitlines(keepends=True)
    prefixed = "".join(prefix.format(n % 60) + line for n, line in enumerate(lines))
    plain, found = read_file(sample(name)), read_file(written(prefixed))
    assert (found.reader, found.values) == (plain.reader, plain.values)


@pytest.mark.parametrize("name", SAMPLES)
def test_blanks_of_pages_titles_of_terminals_and_line_ends_change_no_value(name, sample, written):
    text = sample(name).read_text().replace(" ", "\xa0").replace("\n", "\r\n")
    plain = read_file(sample(name))
    for found in (text, "\x1b]0;training\x07\x1b(B" + text, text.encode("utf-16"),
                  text.replace("\xa0", " ").encode("gb18030")):
        assert read_file(written(found)).values == plain.values


def broken(text, width):
    """As a terminal of this width shows the text."""
    return "".join(line[start : start + width] + "\n" for line in text.splitlines()
                   for start in range(0, max(len(line), 1), width))  # fmt: skip


MEGATRON = "".join(
    f" iteration {n}/ 900 | consumed samples: {n * 8} | elapsed time per iteration (ms): 66{n}.3 |"
    f" learning rate: 1.497E-04 | global batch size: 8 | lm loss: 8.23{n}016E+00 | loss scale: 1.0 "
    f"| grad norm: 2.5{n}5 | number of skipped iterations: 0 | number of nan iterations: 0 |\n"
    for n in range(1, 9))  # fmt: skip
TRAINER = "".join(
    f"{{'loss': 2.{n}135, 'grad_norm': 1.{n}15123487, 'learning_rate': 4.9{n}123123e-05, 'step': "
    f"{n * 10}, 'epoch': 0.0{n}}}\n" for n in range(1, 9))  # fmt: skip
VERL = "".join(
    f"step:{n} - actor/pg_loss:-0.0{n}25 - actor/grad_norm:1.{n}25 - critic/score/mean:0.{n}25 - "
    f"timing_s/step:45.{n}25 - response_length/mean:256.{n}25 - perf/throughput:1234.{n}25\n"
    for n in range(1, 9))  # fmt: skip


@pytest.mark.parametrize("width", [80, 100, 120, 132])
@pytest.mark.parametrize("text", [MEGATRON, TRAINER, VERL], ids=["Megatron", "Trainer", "verl"])
def test_a_terminal_breaks_lines_within_values(text, width, written):
    plain = read_file(written(text))
    assert read_file(written(broken(text, width))).values == plain.values
    noted = broken("starting\n" + text, width).replace("\n", "\r\n")
    assert read_file(written(noted)).values == plain.values


def test_lines_keep_their_numbers(written):
    text = TRAINER.replace("2.5135", "nan")
    warning = read_file(written(broken(text, 80))).warnings[-1]
    assert (warning.code, warning.line) == ("nonfinite_loss", 9)


def test_an_editor_breaks_lines_between_words(written):
    text = """\
iteration 50/ 1000 | consumed samples: 200 | elapsed time per iteration (ms): 661.3 | learning rate:
1.497E-04 | global batch size: 4 | lm loss: 8.238016E+00 | loss scale: 16384.0 | grad norm: 2.555 |
number of skipped iterations: 0 | number of nan iterations: 0 | time (ms) | forward-compute: 92.25 |
forward-recv: 65.68 | backward-compute: 239.82 | backward-send: 0.54 | optimizer: 42.31 |
"""
    values = read_file(written(text)).values
    assert (values["loss"]["points"], values["loss"]["first"]) == (1, 8.238016)
    assert values["iteration_time_ms"]["first"] == 661.3


def test_a_record_is_printed_over_lines(written):
    indent = "\t" * 9 + "   "
    text = "[2024-08-28 18:06:28,192] [    INFO] -   Total optimization steps = 20.0\n" + "".join(
        f"[2024-08-28 18:19:56,302] [    INFO] - loss: 1.{n}980545,\n{indent}learning_rate: 5e-06, "
        f"\n{indent}global_step: {n}0, \n{indent}interval_runtime: 808.1082,\n" for n in (1, 2))
    loss = read_file(written(text)).values["loss"]
    assert (loss["points"], loss["first"], loss["last_step"]) == (2, 1.1980545, 20)
    pretty = TRAINER.replace(", '", ",\n '")
    assert read_file(written(pretty)).values == read_file(written(TRAINER)).values


@pytest.mark.parametrize("name", [
    "node/24.1.rc1.b030_910B3_8cards.txt", "node/info_-t_topo_910B3_8.txt",
    "performance/ceval_md.txt", "performance/ascend_qwen3-8b_serve.console.txt"])
def test_tables_are_not_taken_for_wrapped_lines(name, sample):
    assert wrapping_of(sample(name).read_text()) is None


def test_an_error_of_atc_is_quoted(written):
    text = ("ATC start working now, please wait for a moment...\n"
            " ATC run failed, Please check the detail log\n"
            " E19010: No parser is registered for Op [/FindMax, optype [ai.onnx::11::FindMax]].\n"
            "       Solution: Reinstall the package.\n")  # fmt: skip
    quoted = "".join(f">    {line}\n" for line in text.splitlines())
    values = read_file(written(quoted)).values
    assert (values["succeeded"], values["codes"], values["op_count"]) == (False, ["E19010"], 1)
    with pytest.raises(ReadError, match="unknown_format"):
        read_file(written("# Guide\n\n    ATC run success, welcome to the next use.\n"))
