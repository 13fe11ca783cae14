"""Genuine outputs that were once read wrongly, each with what it says; pairs of curves:
curves/test_differences.py."""

import json
from pathlib import Path

import pytest

from tests.toolreaders.readers.written_formats import TEXTS
from toolreaders import ReadError, read_file

SAMPLES = Path(__file__).parents[2] / "samples"
FOLDERS = ("cases", "failures", "mixed", "pasted")
TRUTH = json.loads((SAMPLES / "cases/truth.json").read_text(encoding="utf-8"))


def at(values, path: str):
    """The value under a dotted path, None where there is none."""
    for key in path.split("."):
        try:
            values = values[int(key) if isinstance(values, list) else key]
        except (IndexError, KeyError):
            return None
    return values


def said(name: str) -> dict:
    """What the reading says of all that the truth names."""
    wants = TRUTH[name]
    try:
        reading = read_file(SAMPLES / name)
    except ReadError as error:
        return {"error": error.code}
    whole, says = f"{reading.values} {reading.warnings} {reading.parts}", wants.get("says", "")
    special = {"kind": reading.kind, "parts": [part.kind for part in reading.parts],
               "warnings": sorted({warning.code for warning in reading.warnings}),
               "says": says if says in whole else whole}
    return {key: special[key] if key in special else at(reading.values, key) for key in wants}


def test_every_case_answers_its_truth():
    listed = {f"{folder}/{path.name}" for folder in FOLDERS
              for path in (SAMPLES / folder).glob("*.[tc][xs][tv]")}
    assert listed <= TRUTH.keys()
    assert {name: said(name) for name in TRUTH} == TRUTH


RUN_PA = "[2025-02-24 19:13:09,331] [2269] [llm] [INFO] [logging.py-331] : "
OPTICAL = """hccn_tool -i 0 -optical -g
optical info:
present              : present
Tx Power             : 4.4035 mW
Rx Power             : 1.0189 mW
TxPower High Thres   : 3.5481 mW
TxPower Low Thres    : 0.2818 mW
RxPower High Thres   : 3.5481 mW
RxPower Low Thres    : 0.1445 mW
"""
EPOCH = "Epoch: [0][{0}0/626]\tTime  0.4 ( 0.9)\tLoss 6.{0}531e+00 (7.0001e+00)\n"
FASTER_RCNN = ("epoch: 1 step: {n}, rpn_loss: 0.12054, rcnn_loss: 0.40601, rpn_cls_loss: 0.04025, "
               "rpn_reg_loss: 0.08032, rcnn_cls_loss: 0.25854, rcnn_reg_loss: 0.14746, "
               "total_loss: 0.{n}\n")
CLAIMED = {
    "a model of MindIE answers": (
        f"{RUN_PA}Question[0]: Why?\n{RUN_PA}Answer[0]: So.\n"
        f"{RUN_PA}Generate[0] token num: (0, 20)\n",
        {"mode": "run_pa", "requests": {"total": 1, "completed": 1}, "tokens.output": 20}),
    "light above its own threshold": (
        OPTICAL, {"checks.0.problems": ["Tx Power 4.4035 mW is above 3.5481"], "healthy": False}),
    "MindSpore's memory at the end": (
        TEXTS["mindspore_memory"],
        {"capacity_bytes": 2**36, "peak_allocated_bytes": 23716 * 2**20,
         "peak_reserved_bytes": 26244 * 2**20}),
    "blocks of MindSpore's memory tracker": (
        "start_time_stamp,end_time_stamp,device_addr,size,actual_peak_memory,type\n"
        "1,5,0x1,1048576,2097152,Weight\n2,5,0x2,1048576,4194304,Weight\n",
        {"form": "memory_block", "peaks": {"MindSpore": {"allocated_mb": 4}},
         "max_size_kb": 1024}),
    "MindSpore's input pipeline": (
        "Operation,Stage,Occurrences,Avg. time (us),Custom Info\nBatchOp,Iteration,10,150.5,\n",
        {"form": "dataset", "total_us": 1505, "top.0.operation": "BatchOp Iteration"}),
    "queues of it": (
        "op_id,op_type,num_workers,output_queue_size,output_queue_usage_rate\n0,Batch,8,16,0.03\n",
        {"form": "minddata_pipeline_raw",
         "steps": [{"operation": "Batch", "workers": 8, "queue_usage": 0.03}]}),
    "end to end of benchmark": (
        "[e2e] throughputRate: 35.5884, latency: 1.40495e+06\n"
        "[data read] throughputRate: 37.666, moduleLatency:26.5491\n",
        {"throughput": {"e2e_samples_per_second": 35.5884},
         "metrics.data read.moduleLatency": 26.5491}),
    "a report with the notes of a document": (
        "- # before\n- 1.In brief: Total API: 4, in which Support: 3, Unsupport: 1,No operator is "
        "involved:\n   0, Analysing: 0\n- # after\n\n2.After eliminate duplicate: Total API: 2, in "
        "which Support: 2, Unsupport: 0, , Analysing: 0\n",
        {"total": 4, "unsupported": 1, "classes.Analysing": 0, "unique.total": 2}),
    "settings with comments": (
        '{\n  "data_parallel": 8,  // of data\n  "model_parallel": 4,\n'
        '  "tensor_parallel_mode": "row_split"  # 按行切分\n}\n',
        {"dp": 8, "tp": 4, "tensor_parallel_mode": "row_split"}),
    "FasterRCNN": ("".join(FASTER_RCNN.format(n=n) for n in (10, 20, 30)),
                   {"loss.points": 3, "loss.first": 0.10, "loss.last": 0.30, "interval": 10}),
    "EcapaTDNN": (
        "".join(f"2022-02-13 13:58:32.8, epoch:0/15, iter-{n}/731560, aver loss:1.58, cur loss:"
                f"1.{n}, acc_aver:0.7349\n" for n in (100, 200, 300)),
        {"loss.first": 1.1, "loss.last": 1.3, "meaning": "point"}),
    "Paddle": ("".join(f"Epoch 0, Batch {n}, loss 1.{n}\n" for n in (100, 200, 300)),
               {"loss.points": 3, "loss.first": 1.1, "loss.last_step": 300, "step_unit": "step"}),
    "PaddleRec": ("".join(f"Pass 0, batch {n}, loss: [1.{n}]\n" for n in (100, 200, 300)),
                  {"loss.points": 3, "loss.first": 1.1, "loss.last_step": 300}),
    "FPS of all cards": (
        EPOCH.format(1) + EPOCH.format(2) + "[npu id: 0 ] * FPS@all 4112.512, TIME@all 0.5\n",
        {"loss.points": 2, "throughput.samples_per_second": 4112.512}),
    "MiniMind": ("".join(f"Epoch:[0/19]({n}/24681) loss:8.{n} lr:0.0002 epoch_Time:9.0min:\n"
                         for n in (0, 100, 200)),
                 {"loss.points": 3, "loss.last": 8.2, "loss.last_step": 200}),
    "MindYOLO": (
        "".join(f"2024-12-25 09:58:4{n},787 [INFO] Epoch 1/200, Step {n}00/3995, imgsize (640, "
                f"640), loss: 1{n}.5, lbox: 3.5, cur_lr: 0.09\n2024-12-25 09:58:4{n},800 [INFO] "
                f"Epoch 1/200, Step {n}00/3995, step time: {n}50.25 ms\n" for n in (1, 2, 3)),
        {"loss.first": 11.5, "loss.last_step": 300, "iteration_time_ms.median_all": 250.25}),
    "PaddleOCR until 2.1": (
        "[2021/07/01 09:52:07] root INFO: epoch: [1/500], iter: 2, lr: 0.001000, loss: 31.25, acc: "
        "0.5, reader_cost: 8.5 s, batch_cost: 2.25 s, samples: 1024, ips: 11.5\n",
        {"loss.first": 31.25, "loss.last_step": 2, "meaning": "smoothed",
         "iteration_time_ms.mean": 2250, "throughput.samples_per_second": 11.5}),
    "PaddleOCR": (TEXTS["paddleocr_log"], {"memory.peak_allocated_mb": 10611,
                                           "iteration_time_ms.mean": 425}),
    "losses of validation beside those of fairseq": (
        TEXTS["fairseq_2018_log"] + "| epoch 001 | valid on 'valid' subset | valid loss 3.75\n",
        {"meaning": "point", "loss.last_step": 600, "grad_norm.mean": 3.125}),
    "no loss of validation is one of training": (
        "".join(f"| epoch 00{n} | valid on 'valid' subset | valid loss 9.{n}\n"
                f"| epoch 00{n} | train loss 2.{n} | train ppl 7.59 | gnorm 2.67\n"
                for n in (1, 2)), {"loss.points": 2, "loss.first": 2.1, "loss.last": 2.2}),
    "TFLOPS of a card": (
        "".join(f" iteration {n}/ 9 | elapsed time per iteration (ms): 500.0 | throughput per GPU "
                f"(TFLOP/s/GPU): 23{n}.5 | lm loss: {n}.5 | grad norm: 1.5 |\n" for n in (1, 2, 3)),
        {"throughput.tflops": 232.5}),
    "TFLOPS of GPT-NeoX": (
        " samples/sec: 7.799 | iteration 34/ 100 | elapsed time per iteration (ms): 4103.1 | "
        "approx flops per GPU: 112.5TFLOPS | lm_loss: 1.125E+01 |\n",
        {"throughput.tflops": 112.5, "loss.first": 11.25}),
    "the newest print of a code": (
        "[PID: 749] 2025-12-29-03:16:15.787.356 Get_Socket_Timeout(EI0006): Getting socket times "
        "out. Reason: The remote does not initiate a connect request.\n",
        {"codes": ["EI0006"], "cause.waits": True}),
    "rows of nccl-tests alone": (
        "".join(f"  {n}0240  {n}  float  sum  -1  {n}8.5  1.25  {n}.5  0  17.5  1.5  3.5  0\n"
                for n in (1, 2)),
        {"largest_bytes": 20240, "rows.1.bus_bandwidth_gb_s": 2.5, "rows.1.check": "success"}),
    "scores behind a logger's prefix": (
        "2024-07-28:11:41:09 INFO [eval.py:85] |Tasks|Version|Filter|n-shot|Metric|   |Value |   "
        "|Stderr|\n|---|--:|---|--:|---|---|--:|---|--:|\n"
        "|arc|1|none|25|acc|↑  |0.3125|±  |0.05|\n",
        {"scores.0.task": "arc", "scores.0.value": 0.3125}),
    "nvidia-smi without its head": (
        "|   0  NVIDIA A100-SXM4-40GB   On  | 00000000:07:00.0 Off |                    0 |\n"
        "| N/A   38C    P0    49W / 300W |    449MiB / 40960MiB |      7%      Default |\n",
        {"gpus.0.memory_used_mib": 449, "gpus.0.load_percent": 7, "driver_version": None}),
    "processes of nvidia-smi alone": (
        "".join(f"|    3   N/A  N/A    {n}439      C   /opt/conda/bin/python3     9347MiB |\n"
                for n in (1, 2)), {"gpus": [], "processes.1.pid": 2439}),
    "FPS of a line": ("".join(f"step: {n} loss: 2.{n} FPS: 12{n}\n" for n in (10, 20, 30)),
                      {"loss.points": 3, "throughput.samples_per_second": 1220}),
}  # fmt: skip


@pytest.mark.parametrize("name", CLAIMED)
def test_a_format_that_is_claimed_gives_its_figures(written, name):
    text, wants = CLAIMED[name]
    values = read_file(written(text)).values
    assert {path: at(values, path) for path in wants} == wants


def test_batches_that_start_again_prove_no_steps(written):
    """The log does not say how long an epoch is."""
    text = "".join(f"Epoch {epoch}, Batch {n}, loss 1.{n}\n" for epoch in (0, 1) for n in (0, 100))
    values = read_file(written(text)).values
    assert (values["loss"]["points"], values["steps_proven"]) == (4, False)
