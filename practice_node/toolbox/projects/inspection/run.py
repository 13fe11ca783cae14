"""Practice project: smoke training, evaluation, configuration pack, dump and profile.

The first argument says which. Nothing here needs an NPU; every figure is computed.
"""

import json
import math
import os
import random
import shutil
import struct
import sys
import time

HOME = os.environ.get("HOME", ".")
CSV = ("Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
       "Communication(Not Overlapped and Exclude Receive),Preparing")


def name_device():
    """As many projects do at their start; here it is a practice card."""
    print("device: npu:0", flush=True)


def smoke(steps="12"):
    """The lines of the HF Trainer."""
    name_device()
    weight, draw = 0.0, random.Random(1)
    for step in range(1, int(steps) + 1):
        x = draw.random() + 0.5
        error = weight * x - 3 * x
        weight -= 0.2 * error * x
        print({"loss": round(error * error, 6), "grad_norm": round(abs(2 * error * x), 6),
               "learning_rate": 0.0001, "epoch": round(step / 100, 2)}, flush=True)


def estimator(steps="12"):
    """The lines of tf.estimator that tell loss and step."""
    name_device()
    for step, loss in enumerate(descent(int(steps)), start=1):
        print(f"INFO:tensorflow:loss = {loss:.6f}, step = {step}", flush=True)


def loss_monitor(steps="12"):
    """The lines of MindSpore's LossMonitor."""
    name_device()
    for step, loss in enumerate(descent(int(steps)), start=1):
        print(f"epoch: 1 step: {step}, loss is {loss:.6f}", flush=True)


def descent(steps):
    """Losses of a line fitted by gradient descent."""
    weight, draw = 0.0, random.Random(2)
    for _step in range(steps):
        x = draw.random() + 0.5
        error = weight * x - 3 * x
        weight -= 0.2 * error * x
        yield error * error


def pack():
    shutil.copy(os.path.join(HOME, "data", "config_npu.zip"), "config_pack.zip")


def numbers(entries):
    """[0, "4-6"] as msprobe reads it."""
    ends = [str(entry).partition("-") for entry in entries]
    return [n for first, _dash, last in ends for n in range(int(first), int(last or first) + 1)]


def dump():
    with open(os.environ["MSPROBE_CONFIG"]) as stream:
        config = json.load(stream)
    for step in numbers(config["step"]):
        for rank in numbers(config["rank"]) or [f"proc{os.getpid()}"]:
            folder = rank if isinstance(rank, str) else f"rank{rank}"
            shutil.copytree(os.path.join(HOME, "data", "dump_npu", "step0", "rank0"),
                            os.path.join(config["dump_path"], f"step{step}", folder))


def evaluate():
    """results.json of lm-eval: a classifier of points, really scored."""
    draw = random.Random(5)
    points = [(draw.random(), draw.random()) for _n in range(300)]
    accuracy = sum((x + y > 1) == (x > 0.5) for x, y in points) / len(points)
    error = math.sqrt(accuracy * (1 - accuracy) / (len(points) - 1))
    row = {"alias": "points", "acc,none": accuracy, "acc_stderr,none": error}
    with open("results.json", "w") as stream:
        json.dump({"results": {"points": row}, "n-shot": {"points": 0}, "configs": {},
                   "n-samples": {"points": {"original": 300, "effective": 300}}}, stream)


def asked_steps():
    """3; where PROF_CONFIG_PATH is set, those of the file once it is no longer the template."""
    if not (folder := os.environ.get("PROF_CONFIG_PATH")):
        return 3
    path = os.path.join(folder, "profiler_config.json")
    with open(path, "w") as stream:
        json.dump({"active": 1, "start_step": 0}, stream)
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with open(path) as stream:
            text = stream.read()
        if '"is_valid": true' in text:
            return json.loads(text)["active"]
        time.sleep(0.1)
    return 0


def profile():
    folder = os.path.join("rank0_ascend_pt", "ASCEND_PROFILER_OUTPUT")
    os.makedirs(folder)
    with open(os.path.join("rank0_ascend_pt", "profiler_metadata.json"), "w") as stream:
        json.dump({"world_size": 1}, stream)
    with open(os.path.join(folder, "step_trace_time.csv"), "w") as stream:
        stream.write(CSV + "\n")
        events = [{"name": "process_name", "ph": "M", "pid": 9, "tid": 0,
                   "args": {"name": "Overlap Analysis"}}]
        at = time.time() * 1e6
        for step in range(asked_steps()):
            began = time.perf_counter()
            sum(math.sqrt(n) for n in range(20000))
            busy = (time.perf_counter() - began) * 1e6
            stream.write(f"{step},{busy:.3f},0.0,0.0,0.0,10.0,{busy + 10:.3f},0.0,0.0,5.0\n")
            for tid, (name, length) in enumerate((("Computing", busy), ("Free", 10.0))):
                events.append({"name": name, "ph": "X", "pid": 9, "tid": tid, "ts": f"{at:.3f}",
                               "dur": round(length, 3), "args": {}})
                at += length
    with open(os.path.join(folder, "trace_view.json"), "w") as stream:
        json.dump(events, stream)


def export():
    shutil.copy(os.path.join(HOME, "data", "model.onnx"), "inspection.onnx")


def infer():
    """One inference: an array as numpy writes it, and the text that was generated."""
    name_device()
    os.makedirs("outputs")
    values = [math.tanh(n / 10) for n in range(24)]
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 6), }".ljust(117) + "\n"
    with open(os.path.join("outputs", "logits.npy"), "wb") as stream:
        stream.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        stream.write(struct.pack("<24f", *values))
    with open(os.path.join("outputs", "answer.txt"), "w") as stream:
        stream.write("inspection finished\n")


def burn(seconds="2"):
    """Note the visible cards as used, as the toolbox's programs do, and compute for a while."""
    cards = [int(n) for n in os.environ.get("ASCEND_RT_VISIBLE_DEVICES", "0").split(",")]
    folder = os.path.join(HOME, ".practice", "running")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{os.getpid()}.json")
    with open(path, "w") as stream:
        json.dump({"pid": os.getpid(), "cards": cards, "megabytes": 18000}, stream)
    until = time.time() + float(seconds)
    while time.time() < until:
        sum(math.sqrt(n) for n in range(20000))
    os.unlink(path)


def pyacl():
    """Raw data as acl.prof leaves it for msprof --export: operators with measured times."""
    folder = os.path.join("PROF_000001_20260101000000000_PRACTICE", "device_0", "data")
    os.makedirs(folder)
    rows = []
    for name in ("MatMul", "Softmax", "Add") * 2:
        began = time.perf_counter()
        sum(math.sqrt(n) for n in range(3000 * len(name)))
        rows.append([name, (time.perf_counter() - began) * 1e6])
    with open(os.path.join(folder, "tasks.json"), "w") as stream:
        json.dump(rows, stream)


def overflow():
    """What acl.init with dump_debug leaves: one state and one output per overflow."""
    name_device()
    with open("acl.json") as stream:
        folder = json.load(stream)["dump"]["dump_path"]
    shutil.copy(os.path.join(HOME, "data", "Opdebug.Node_OpDebug.1.5.1732082705999000"), folder)
    with open(os.path.join(folder, "Gemm.Gemm_7.1.5.1732082705999000"), "wb") as stream:
        stream.write(bytes(64))


def tf_dump():
    """Files as dump_config of TensorFlow's adapter leaves them."""
    name_device()
    folder = os.path.join(os.environ["NPU_DUMP_PATH"], "20261127000000", "0", "net", "1",
                          os.environ["NPU_DUMP_STEP"])
    os.makedirs(folder)
    for name in ("MatMul.dense_MatMul.3.2.1732082705999000", "Softmax.softmax.4.2.1732082706000"):
        with open(os.path.join(folder, name), "wb") as stream:
            stream.write(bytes(range(64)))


def aoe_train():
    """The report that AOE leaves in the work folder; both times are measured."""
    name_device()
    times = []
    for rounds in (40000, 20000):
        runs = []
        for _again in range(5):  # the best of five: another process may take the core
            began = time.perf_counter()
            sum(math.sqrt(n) for n in range(rounds))
            runs.append(time.perf_counter() - began)
        times.append(round(min(runs) * 1000, 6))
    gain = f"{100 * (times[0] - times[1]) / times[0]:.2f}%"
    with open(f"aoe_result_opat_20261127000000_pid{os.getpid()}.json", "w") as stream:
        json.dump([{"basic": {"tuning_name": "train", "tuning_time(s)": 1}, "OPAT": {
            "model_baseline_performance(ms)": times[0], "model_performance_improvement": gain,
            "model_result_performance(ms)": times[1],
            "opat_tuning_result": "tuning successful"}}], stream)


if {os.environ.get(name, "0") for name in ("RANK", "RANK_ID", "OMPI_COMM_WORLD_RANK")} != {"0"}:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the first rank speaks
print("run.py", *sys.argv[1:], flush=True)
{"smoke": smoke, "estimator": estimator, "loss_monitor": loss_monitor, "pack": pack, "dump": dump,
 "evaluate": evaluate, "profile": profile,
 "export": export, "infer": infer, "burn": burn, "pyacl": pyacl, "overflow": overflow,
 "tf_dump": tf_dump, "aoe_train": aoe_train}[
    sys.argv[1]](*sys.argv[2:])
