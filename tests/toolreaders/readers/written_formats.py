"""A short file of each format of which ``tests/samples`` holds none, in the form of its tool."""

import io
import json
import sqlite3
import struct
import tempfile
from pathlib import Path

import openpyxl

from toolreaders.training.tensorboard import masked_crc


def lines(pattern: str, count: int = 6) -> str:
    """The pattern with its step ``i`` and a falling loss."""
    return "".join(pattern.format(i=i, loss=3 - i / 8) for i in range(1, count + 1))


def block(number: int, data: bytes) -> bytes:
    """A length-delimited field of a protocol buffer."""
    return bytes([number << 3 | 2, len(data)]) + data


def record(data: bytes) -> bytes:
    """A TFRecord."""
    length = struct.pack("<Q", len(data))
    return (length + struct.pack("<I", masked_crc(length)) + data
            + struct.pack("<I", masked_crc(data)))


def events(tag: str) -> bytes:
    """An event file with three scalars of the tag."""
    found = record(b"\x09" + struct.pack("<d", 1.0) + block(3, b"brain.Event:2"))
    for step in range(1, 4):
        value = block(1, block(1, tag.encode()) + b"\x15" + struct.pack("<f", 2.5 / step))
        found += record(b"\x09" + struct.pack("<d", 1.0) + bytes([0x10, step]) + block(5, value))
    return found


def database(*statements: str) -> bytes:
    """A SQLite database."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "db"
        with sqlite3.connect(path) as connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()
        return path.read_bytes()


def workbook(title: str, *rows: tuple) -> bytes:
    """A workbook of one sheet."""
    book = openpyxl.Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


TENSOR = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4, 3], "Max": 3.25,
          "Min": -3.559, "Mean": 0.0201, "Norm": 55.531}
PAIR = {"NPU Name": "Functional.conv2d.0.forward.output.0",
        "Bench Name": "Functional.conv2d.0.forward.output.0", "NPU Dtype": "torch.float32",
        "Bench Dtype": "torch.float32", "NPU Tensor Shape": "[4]", "Bench Tensor Shape": "[4]",
        "NPU Requires_grad": "True", "Bench Requires_grad": "True", "Max diff": "0.125",
        "MaxRelativeErr": "12.345%", "NPU max": 2.25, "Bench max": 2.125, "Result": "pass",
        "Requires_grad Consistent": "True", "Err_message": ""}
TIMING = {"count": 20, "min": 2.781, "max": 3.512, "mean": 2.917, "median": 2.871}
COMMUNICATION = {"Elapse Time(ms)": 12.345, "Transit Time(ms)": 10.125, "Wait Time(ms)": 1.375,
                 "Synchronization Time(ms)": 0.125}
TABLE = "+----------+----------------+\n"
TEXTS: dict[str, str | bytes] = {
    "ais_bench_summary": json.dumps({"NPU_compute_time": TIMING, "throughput": 1371.273}),
    "aisbench_console": (
        "╒═══╤═══╤═══╤═══╤═══╕\n│ Performance Parameters │ Stage │ Average │ Min │ N │\n"
        "╞═══╪═══╪═══╪═══╪═══╡\n│ E2EL │ total │ 1234.5 ms │ 987.25 ms │ 8 │\n"
        "╘═══╧═══╧═══╧═══╧═══╛\n"
        "╒═══╤═══╤═══╕\n│ Common Metric │ Stage │ Value │\n╞═══╪═══╪═══╡\n"
        "│ Benchmark Duration │ total │ 20000.5 ms │\n├───┼───┼───┤\n"
        "│ Request Throughput │ total │ 0.399 req/s │\n╘═══╧═══╧═══╛\n"),
    "aisbench_details": lines('{{"id": {i}, "success": true, "time_points": {{}}, '
                              '"input_tokens": 101, "output_tokens": {i}8}}\n'),
    "aoe_log": "AOE process start\nsubgraph 0 finished\nAoe process finished\n",
    "arcface_log": lines("Training: Speed 2271.5 samples/sec   Loss {loss:.4f}   "
                         "LearningRate 0.2000   Epoch: 0   Global Step: {i}00\n"),
    "coco_summary": (" Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = "
                     "0.374\n"),
    "parallel_strategy": json.dumps({"data_parallel": 8, "model_parallel": 4,
                                     "pipeline_parallel": 2}, indent=1),
    "run_failure": (
        "INFO start\nTraceback (most recent call last):\nImportError: libhccl.so: cannot open "
        "shared object file: No such file or directory\nE39999: Inner Error!\n"),
    "nemo_log": lines(
        "Training epoch 0, iteration {i}/9 | lr: 0.0006 | global_step: {i} | reduced_train_loss: "
        "{loss:.3f} | train_step_timing in s: 0.315\n"),
    "xtuner_log": lines(
        "[XTuner][RANK 0][2026-01-02 03:04:05][INFO] [Train] (Epoch 1) Step {i}/500  lr: 0.000020  "
        "loss: {loss:.3f}  grad_norm: 1.25  max_memory: 31.5GB  tgs: 1234  data_time: 0.01s  "
        "time: 1.34s  eta: 0:11:10\n"),
    "deepspeed_chat_log": lines(
        "epoch: 0|step: {i}|ppo_ep: 1|act_loss: {loss:.6f}|cri_loss: 0.25|unsuper_loss: 0.0\n"),
    "darknet_log": lines(" {i}: {loss:.6f}, 3.5 avg loss, 0.001 rate, 4.5 seconds, {i}00 images\n"),
    "detectron2_text_log": lines("[01/01 10:00:0{i} d2.utils.events]:  eta: 0:10:00  iter: {i}9  "
                                 "total_loss: {loss:.4f}  loss_cls: 1.25  time: 0.2512  lr: 0.1\n"),
    "dllogger_log": lines('DLLL {{"timestamp": "1.5", "type": "LOG", "step": [0, {i}], "data": '
                          '{{"train.loss": {loss:.4f}, "train.total_ips": 545.25}}}}\n'),
    "dlrm_log": lines("Finished training it {i}0/90 of epoch 0, 25.30 ms/it, loss {loss:.6f}, "
                      "accuracy 0.000%\n"),
    "epoch_and_batch_log": lines("[Epoch 1/200 Batch {i}0/97] Loss={loss:.5f}.\n"),
    "epoch_training_log": lines("Epoch {i}: train_loss={loss:.4f}, val_loss=0.8125\n"),
    "espnet_log": lines("[h] 2026-04-23 (trainer:793) INFO: 1epoch:train:1-{i}0batch: "
                        "iter_time=0.003, loss={loss:.3f}, grad_norm=3.125, train_time=0.504\n"),
    "evalscope_perf": (
        TABLE + "| Key | Value |\n" + TABLE + "| Time taken for tests (s) | 20.125 |\n"
        "| Total requests | 100 |\n| Succeed requests | 100 |\n| Failed requests | 0 |\n"
        "| Output token throughput (tok/s) | 1072.15 |\n| Average latency (s) | 2.345 |\n"
        "| Average time to first token (s) | 0.125 |\n" + TABLE),
    "evalscope_report": json.dumps({"name": "m@gsm8k", "dataset_name": "gsm8k", "model_name": "m",
                                    "score": 0.8125, "metrics": [{"name": "mean_acc", "num": 16,
                                                                  "score": 0.8125}]}),
    "aipp_config": ("aipp_op {\n    aipp_mode: static\n    input_format: RGB888_U8\n"
                    "    src_image_size_w: 640\n    src_image_size_h: 640\n"
                    "    mean_chn_0: 104\n    min_chn_0: 0.0\n    var_reci_chn_0: 0.00390625\n}\n"),
    "collect_env": ("Collecting environment information...\nPyTorch version: 2.5.1\n"
                    "Is debug build: False\n[pip3] torch==2.5.1\n[pip3] torch-npu==2.5.1\n"),
    "fairseq_2018_log": lines("| epoch 001  {i}00 / 999 loss={loss:.4f} (9.51), wps=959, wpb=897, "
                              "bsz=32, lr=0.001, clip=100%, gnorm=3.125\n"),
    "fairseq_2019_log": lines("| epoch 001:  {i}00 / 999 loss={loss:.4f}, nll_loss=9.250, "
                              "ppl=608.87, wps=6512, ups=2, gnorm=3.125, num_updates={i}01\n"),
    "paddleocr_log": lines(
        "[2026/01/02 03:04:0{i}] ppocr INFO: epoch: [1/5], global_step: {i}0, lr: 0.000500, loss: "
        "{loss:.6f}, loss_cbn: 0.250000, avg_reader_cost: 0.00059 s, avg_batch_cost: 0.42500 s, "
        "avg_samples: 16.0, ips: 37.62500 samples/s, eta: 0:02:00, max_mem_reserved: 12221 MB, "
        "max_mem_allocated: 10611 MB\n"),
    "paddleseg_log": lines(
        "2026-01-02 06:55:0{i} [INFO]\t[TRAIN] epoch: 1, iter: {i}0/500, loss: {loss:.4f}, lr: "
        "0.009657, batch_cost: 0.5250, reader_cost: 0.07273, ips: 3.8125 samples/sec | ETA 00:04:16"
        "\n"),
    "fairseq_log": lines("2026 | INFO | train_inner | epoch 001: {i} / 9 loss={loss:.3f}, "
                         "nll_loss=9, num_updates={i}, gnorm=3.125\n"),
    "hf_eval_json": json.dumps({"epoch": 3.0, "eval_accuracy": 0.9044, "eval_loss": 0.2512}),
    "hf_eval_text": ("***** eval metrics *****\n  epoch                   =        3.0\n"
                     "  eval_accuracy           =     0.9106\n"),
    "hf_trainer_state": json.dumps({"global_step": 30, "max_steps": 30, "logging_steps": 10,
                                    "log_history": [{"step": 10 * i, "loss": 3 - i / 8,
                                                     "grad_norm": 1.125} for i in (1, 2, 3)]}),
    "host_probe": ("== uname -m ==\naarch64\n== /etc/os-release ==\nNAME=openEuler\n"
                   "VERSION_ID=22.03\n== lscpu ==\nCPU(s): 192\nNUMA node(s): 8\n== free -m ==\n"
                   "              total\nMem: 1547264 100 200 1 2 1447264\n"
                   "== python3 --version ==\nPython 3.10.12\n"),
    "keras_progress_log": "Epoch 1/2\n" + lines("{i}0/60 [==>...] - ETA: 1:00 - loss: "
                                                "{loss:.4f}\n"),
    "lm_eval_json": json.dumps({"results": {"arc": {"acc,none": 0.1934, "acc_stderr,none": 0.0112,
                                                    "alias": "arc"}}, "versions": {"arc": 1},
                                "config": {"model": "hf"}}),
    "maml_log": lines("Iteration {i}00: 0.05, 0.6{i}67\n"),
    "megatron_arguments": ("------------------------ arguments ------------------------\n"
                           "  hidden_size ..................................... 4096\n"
                           "  lr .............................................. 0.00015\n"
                           "-------------------- end of arguments ---------------------\n"),
    "megatron_golden_values": json.dumps({"lm loss": {"start_step": 0, "end_step": 9,
                                                      "step_interval": 5,
                                                      "values": {"0": 10.875, "5": 10.125}}}),
    "memory_pairs": ("baseline,optimised,baseline_MB,optimised_MB,reduction\n"
                     "a.txt,b.txt,53565.44,35860.48,0.33053\n"),
    "memory_polled": ("seconds,phase,card,used_mb,total_mb\n0.0,before,0,3161,65536\n"
                      "1.0,run,0,42125,65536\n"),
    "mindie_config": json.dumps({"ServerConfig": {"port": 1025}, "BackendConfig": {
        "npuDeviceIds": [[0, 1]], "ModelDeployConfig": {"maxSeqLen": 2560, "ModelConfig": [
            {"modelName": "qwen", "worldSize": 2, "modelWeightPath": "/data/qwen"}]}}}),
    "mindspore_graph": (
        "# IR entry: @19_1___main___Net_construct_304\n# Total subgraphs: 1\n\n# Total params: 1\n"
        "# Params:\n%para1_x: <Tensor[Float16], (32, 128)> : []\n\n"
        "subgraph @19_1___main___Net_construct_304() {\n"
        "  %0(CNode_310$a) = PrimFunc_MatMul(%para1_x, %para1_x) cnode_attrs: {checkpoint: Bool(1)}"
        "\n      : (<Tensor[Float16], (32, 128)>, <Tensor[Float16], (128, 64)>) -> "
        "(<Tensor[Float16], (32, 64)>)\n      # Fullname with scope: (Default/MatMul-op1)\n"
        "  %1(CNode_309$b) = PrimFunc_Softmax(%0)\n      : (<Tensor[Float16], (32, 64)>) -> "
        "(<Tensor[Float32], (32, 64)>)\n}\n"),
    "mindspeed_llm_evaluation": ("      subject_name  question_n       acc\n"
                                 "0          anatomy         135  0.466667\n"
                                 "1            total       14042  0.457125\n"),
    "mindspeed_rl_log": lines("[2026-06-01 10:00:00] iteration: {i} / 60 | timing/all : 100.5000 | "
                              "actor/pg_loss : {loss:.4f} | grad_norm : 0.1300 | "
                              "grpo/score/mean : 0.4500 | e2e_tps : 120.5000 \n"),
    "model_config": json.dumps({"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"],
                                "hidden_size": 3584, "num_hidden_layers": 28,
                                "torch_dtype": "bfloat16"}),
    "msaccucmp_advisor": ("Detection Type: Global Consistency\nOperator Index: 3\n"
                          "Expert Advice: Calibrate the data.\n"),
    "msprobe_compare_json": json.dumps({"Functional.conv2d.0.forward": {"is_same": False,
                                                                        "op_items": [PAIR]}}),
    "msprobe_construct": json.dumps({"Module.conv.Conv2d.forward.0": None,
                                     "Module.relu.ReLU.forward.0": "Module.conv.Conv2d.forward.0"}),
    "msprobe_dump": json.dumps({"task": "statistics", "level": "L1", "framework": "pytorch",
                                "dump_data_dir": None, "data": {"Functional.conv2d.0.forward": {
                                    "input_args": [TENSOR], "output": [TENSOR]}}}),
    "msprobe_dump_config": json.dumps({"task": "statistics", "dump_path": "/out", "rank": [],
                                       "step": [1], "level": "L1"}),
    "msprobe_graph": database(
        "CREATE TABLE tb_config (graph_type, task)", "CREATE TABLE tb_nodes (node_name, "
        "precision_index, data_source, overflow_level, node_order)",
        "INSERT INTO tb_config VALUES ('compare', 'summary')",
        "INSERT INTO tb_nodes VALUES ('conv', 0.875, 'NPU', '', 1)"),
    "msprobe_monitor": ("vpp_stage,name,step,norm,nans\n"
                        + lines("0,layers.{i}.weight,0,{loss},0\n")),
    "msprobe_stack": json.dumps({"0": [["Functional.conv2d.0.forward"],
                                       ["File a.py, line 560, in forward"]]}),
    "msprobe_trend": database(
        "CREATE TABLE monitoring_targets (target_id, target_name)",
        "CREATE TABLE monitoring_metrics (metric_id, metric_name)",
        "CREATE TABLE global_stats (a)",
        "CREATE TABLE trend_data (target_id, rank, step, norm, max)",
        "INSERT INTO monitoring_targets VALUES (1, 'conv')",
        "INSERT INTO trend_data VALUES (1, 0, 1, 55.531, 3.25)"),
    "msprobe_verl_config": json.dumps({"actor_rollout_ref": {"actor": {"clip_ratio": 0.225}},
                                       "trainer": {"nnodes": 2}, "data": {"train_batch_size": 512},
                                       "algorithm": {"gamma": 1.0}, "critic": {}}),
    "msprof_analyze_console": ("   >>>>>   MindStudio   <<<<<\n    THE END-TO-END TOOLCHAIN TO "
                               "UNLEASH HUAWEI ASCEND COMPUTE\n[2026-11-20 23:49:01][ERROR]"
                               "[cluster_analysis.py:74] No data was found.\n"),
    "msprof_analyze_html": ("<html><body><h1>Performance Optimization Suggestions</h1>"
                            "<h2>schedule</h2></body></html>\n"),
    "msprof_analyze_workbook": workbook(
        "OverallMetrics", ("Index", "Duration(ms)", "Duration(ms)", "Diff Ratio"),
        ("Computing Time", 12.5, 13.75, 1.1)),
    "nnunet_log": lines("2026-03-01 22:05:50.045034: Epoch {i}\n"
                        "2026-03-01 22:08:05.183549: train_loss {loss:.4f}\n"
                        "2026-03-01 22:08:05.183808: val_loss -0.4224\n"),
    "node_report": json.dumps({"desk_report": "ckpt_check", "rows_written": 3, "files": []}),
    "msit_llm_compare": ("token_id,data_id,golden_data_path,my_data_path,cosine_similarity,"
                         "max_absolute_error,cmp_fail_reason\n"
                         + lines("0,{i},/g/{i}.pth,/m/{i}.bin,0.98125,{loss:.4f},\n")),
    "nvidia_smi_failure": "No devices were found\n",
    "nvidia_smi_list": ("index, name, memory.total [MiB]\n"
                        + lines("{i}, NVIDIA A100-SXM4-40GB, 40960 MiB\n")),
    "nvidia_smi_query": ("==============NVSMI LOG==============\n\nDriver Version  : 580.126.09\n"
                         "Attached GPUs   : 1\nGPU 00000000:00:04.0\n    FB Memory Usage\n"
                         "        Total   : 40960 MiB\n        Used    : 3 MiB\n"),
    "nvidia_smi_table": (
        "| NVIDIA-SMI 375.66                 Driver Version: 375.66                    |\n"
        "|   1  Tesla K40m          Off  | 0000:42:00.0     Off |                    0 |\n"
        "| N/A   26C    P0    75W / 235W |   1071MiB / 11439MiB |     36%      Default |\n"),
    "nvidia_smi_topology": ("        GPU0    GPU1    CPU Affinity\nGPU0     X      NV2     0-23\n"
                            "GPU1    NV2      X      0-23\n"),
    "nvidia_smi_xml": ("<?xml version='1.0'?>\n<nvidia_smi_log><driver_version>535.104"
                       "</driver_version><cuda_version>12.2</cuda_version><gpu id='0000:17'>"
                       "<product_name>A100</product_name><fb_memory_usage><total>81920 MiB</total>"
                       "</fb_memory_usage></gpu></nvidia_smi_log>\n"),
    "openmmlab_text_log": lines("2026/01/01 00:01:01 - mmengine - INFO - Epoch(train)  [1][{i}0/60]"
                                "  lr: 2.0e-02  eta: 0:00:16  time: 0.0080  loss: {loss:.4f}\n"),
    "paddle_log": lines("ppdet.engine INFO: Epoch: [0] [ {i}/60] learning_rate: 0.1 loss_cls: 1.03 "
                        "loss: {loss:.6f} eta: 1:02:03 batch_cost: 0.251 ips: 25.512 images/s\n"),
    "profiler_communication": json.dumps({"step1": {"p2p": {}, "collective": {
        "hcom_allReduce_1": {"Communication Time Info": COMMUNICATION}}}}),
    "progress_bar_log": lines("\rSteps:  3%|▎    | {i}/500 [00:01<01:23, 1.10it/s, lr=1e-5, "
                              "step_loss={loss:.4f}]"),
    "npu_smi_watch": ("NpuID(Idx)  ChipId(Idx) Pwr(W)      Temp(C)     AI Core(%)  \n"
                      + "2           0           90.5        34          12          \n" * 3),
    "pytorch_tutorial_log": lines("[1, {i:5d}] loss: {loss:.4f}\n"),
    "sglang_one_batch": ("Benchmark ...\n"
                         "Prefill. latency: 0.01014 s, throughput:   5916.43 token/s\n"
                         "Total. latency:  0.062 s, throughput:   1122.76 token/s\n"),
    "tensorboard_evaluation": events("eval/accuracy"),
    "tensorboard_events": events("train/loss"),
    "text_training_log": lines("steps: {i} loss: {loss:.4f} iter time (s): 1.512 samples/sec: "
                               "12.971\n"),
    "tool_log": "2026-11-21 00:18:32 (8934) [INFO] msprobe compare ends successfully.\n",
    "torch_check": "2.1.0 True\n",
    "torchtitan_log": lines("[titan] 2026-06-01 10:00:00 - root - INFO - step: {i:2}  "
                            "loss: {loss:8.4f}  grad_norm:  2.6422  memory:  0.50GiB(0.00%)  "
                            "tps: 30,768  tflops: 3.15  mfu: 0.32%\n"),
    "trace_view": json.dumps([{"ph": "X", "name": "MatMul", "pid": 1, "ts": 123.456, "dur": 12.5}]),
    "transformer_xl_log": lines("| epoch   1 step {i}00 | {i}00 batches | lr 0.00025 | "
                                "ms/batch 219.9 | loss {loss:.4f} | ppl 620.80\n"),
    "trtexec": "[01/01/2024-10:00:00] [I] Throughput: 1234.567 qps\n",
    "verl_log": lines("step:{i} - actor/pg_loss:{loss:.4f} - actor/grad_norm:0.5125 - "
                      "critic/score/mean:0.25125 - timing_s/step:2.5125\n"),
    "vllm_latency": "Avg latency: 1.2512 seconds\n10% percentile latency: 1.5125 seconds\n",
    "vllm_throughput": ("Throughput: 7.151 requests/s, 4656.125 total tokens/s, 1072.151 output "
                        "tokens/s\n"),
    "wenet_log": lines("2026-06-01 10:00:00,1 DEBUG TRAIN Batch 0/{i}00 loss {loss:.4f} "
                       "loss_att 92.1 lr 0.1 rank 0\n"),
    "word_language_model_log": lines("| epoch   1 |   {i}00/ 2983 batches | lr 20.00 | "
                                     "ms/batch  7.91 | loss {loss:.4f} | ppl  2064\n"),
    "yolo_log": "      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size\n"
                + lines("        {i}/6      1.23G     {loss:.4f}      2.125       1.375         12"
                        "        640: 100%|##| 4/4 [00:01<00:00,  3.51it/s]\n"),
    "yolo_results": "epoch,train/box_loss,train/cls_loss,metrics/mAP50(B)\n"
                    + lines("{i},{loss:.4f},1.25125,0.51234\n"),
}

TEXTS |= {
    "mindspore_memory": """\
Device MOC memory size: 65536M
MindSpore Used memory size: 59392M
Used peak memory usage (without fragments): 23716M
Actual peak memory usage (with fragments): 26244M
""",
    "vllm_benchmark_2023": """\
Namespace(backend='vllm', num_prompts=1000, request_rate=200.0)
Total time: 166.88 s
Throughput: 5.99 requests/s
Average latency: 67.59 s
Average latency per token: 0.21 s
Average latency per output token: 1.10 s
""",
    "trtllm_bench": """\
===========================================================
= REQUEST DETAILS
===========================================================
Number of requests:             6144
Number of concurrent requests:  1018.8281
===========================================================
= PERFORMANCE OVERVIEW
===========================================================
Request Throughput (req/sec):                     7.3411
Total Output Throughput (tokens/sec):             7517.2584
Total Token Throughput (tokens/sec):              15034.5168
Total Latency (ms):                               836932.1
Average request latency (ms):                     15093.21
Average time-to-first-token [TTFT] (ms):          120.5
Average time-per-output-token [TPOT] (ms):        14.25
""",
    "trtllm_benchmark_2023": "".join(
        f"[BENCHMARK] model_name llama_13b world_size 2 precision float16 batch_size {batch} "
        f"input_length 710 output_length 190 build_time(s) 116.39 tokens_per_sec {43.25 * batch} "
        "percentile95(ms) 5120.25 percentile99(ms) 5130.75 latency(ms) 4409.75 compute_cap sm80 "
        "generation_time(ms) 3751.5 total_generated_tokens 189.0 generation_tokens_per_second 50.5"
        "\n" for batch in (1, 8)),
    "jetstream_benchmark": """\
Successful requests: 100
Benchmark duration: 29.060651 s
Total input tokens: 12503
Total generated tokens: 30175
Request throughput: 3.44 requests/s
Input token throughput: 430.24 tokens/s
Output token throughput: 1038.35 tokens/s
Mean TTFT: 1274.09 ms
Median TTFT: 1273.70 ms
P99 TTFT: 1276.27 ms
Mean TPOT: 58.04 ms
""",
    "llmperf": """\
Results for token benchmark for llama-2-70b queried with the openai api.

inter_token_latency_s
    p25 = 0.02
    p50 = 0.025
    p99 = 0.05
    mean = 0.0275
    min = 0.01
ttft_s
    p25 = 0.2
    p50 = 0.25
    p99 = 0.5
    mean = 0.275
Number Of Errored Requests: 2
Overall Output Throughput: 30.5
Number Of Completed Requests: 100
Completed Requests Per Minute: 20.8
""",
    "genai_perf": """\
                              NVIDIA GenAI-Perf | LLM Metrics
┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━━━┓
┃                  Statistic ┃      avg ┃      min ┃      max ┃      p99 ┃
┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━━━┩
│   Time to first token (ms) │    16.26 │    12.39 │    17.25 │    17.09 │
│       Request latency (ms) │ 1,200.50 │ 1,100.25 │ 1,300.75 │ 1,290.50 │
│    Output token throughput │   460.42 │      N/A │      N/A │      N/A │
│                  (per sec) │          │          │          │          │
│         Request throughput │     7.04 │      N/A │      N/A │      N/A │
│                  (per sec) │          │          │          │          │
└────────────────────────────┴──────────┴──────────┴──────────┴──────────┘
""",
    "trl_ppo_log": "".join(
        f"{{'eps': 0, 'objective/kl': -0.24, 'objective/rlhf_reward': {n / 4}, "
        f"'loss/policy_avg': -0.0{n}625, 'loss/value_avg': 0.3, 'lr': 3e-06, 'episode': "
        f"{n * 64}, 'epoch': 0.0{n}}}\n" for n in (1, 2)).replace("-0.02625", "-0.0325"),
    "quality_ratings": "sample,rater,source_score,migrated_score\n" + "".join(
        f"q{n},{rater},{4 + n / 8},{4.25 + n / 16}\n"
        for n in range(6) for rater in ("甲", "judge")),
    "llm_c_log": "".join(
        f"step    {n}/19560 | loss {12 - n}.009000 (+nanz)| norm 15.2500 (+nanz)| lr 9.50e-05 | "
        f"1030.25 ms | 48.1% bf16 MFU | 500,000 tok/s\n" for n in (1, 2)),
}
"""What benchmarks and trainers print whose formats are rows of a table."""
