"""For each rule values that hit and values that do not; missing facts are never passed."""

import pytest

from toolreaders.scan import CHECKS
from workers.rules import RULES, check
from workers.rules.environment import _packages
from workers.rules.version_matrix import megatron_for, torch_pair, version

ALLOC = "PYTORCH_NPU_ALLOC_CONF"
OK, SICK = {"npu": 0, "health": "OK"}, {"npu": 1, "health": "Alarm"}
DEVICES = ["/dev/davinci_manager", "/dev/hisi_hdc", "/dev/devmm_svm", "/dev/davinci0"]
SHEETS = {"pip": {"passed": True, "line": 3}, "weights": {"passed": False, "line": 5}}
PROFILE = {"wait": 1, "warmup": 1, "active": 2, "repeat": 2, "steps": 8}


def py(text):
    return {"scripts": {"train.py": text}, "migration": "automatic"}


def manual(text):
    return {**py(text), "migration": "manual"}


ASD = {"asd_variables": {"NPU_ASD_CONFIG": "enable:true"}}
SKIPPED = {"megatron": {"program": "~/Megatron-LM/pretrain_gpt.py",
                        "options": ["--iterations-to-skip"]}}
ONE_READER = ("import numpy as np, torch, torch.distributed as dist\n"
              "def read(p):\n    if dist.get_rank() == 0:\n        x = {}\n"
              "    dist.broadcast(x, 0)\n")
LOOP = "import torch\nfor x in y:\n    loss = f(x)\n    {}\n"
# code: (facts that hit, facts that do not)
VECTORS = {
    "R-ENV-01": ({"chips": [OK, SICK]}, {"chips": [OK, {"npu": 1, "health": "Normal"}]}),
    "R-ENV-02": ({"python": "3.8.10", "mindspore": "2.3.0"},
                 {"python": "3.11.4", "mindspore": "2.3.0"}),
    "R-ENV-03": ({"gcc": "10.3.1", "arch": "aarch64", "is_compiling": True},
                 {"gcc": "7.3.0", "arch": "aarch64", "is_compiling": True}),
    "R-ENV-04": ({"os": "Arch Linux"}, {"os": "openEuler 24.03"}),
    "R-ENV-05": ({"cann": "6.0.RC1"}, {"cann": "8.0.RC1"}),
    "R-ENV-06": ({"install_order": ["kernels", "toolkit"]},
                 {"install_order": ["toolkit", "kernels", "nnal"]}),
    "R-ENV-07": ({"uses_single_operators": True, "has_kernels": False},
                 {"uses_single_operators": True, "has_kernels": True}),
    "R-ENV-08": ({"arch": "x86_64", "tensorflow_package": "tensorflow"},
                 {"arch": "x86_64", "tensorflow_package": "tensorflow-cpu"}),
    "R-ENV-09": ({"python": "3.10.2", "tensorflow": "2.6.5", "mindspore": "2.3.0"},
                 {"python": "3.9.2", "tensorflow": "2.6.5", "mindspore": "2.3.0"}),
    "R-ENV-10": ({"is_set_env_sourced": False}, {"is_set_env_sourced": True}),
    "R-ENV-11": ({"tool_path": "/usr/local/Ascend/ascend-toolkit/latest/tools/x"},
                 {"tool_path": "/usr/local/Ascend/cann/tools/x"}),
    "R-ENV-12": ({"mindspeed": "2.0.0_core_r0.8.0", "megatron": "core_r0.6.0"},
                 {"mindspeed": "2.0.0_core_r0.8.0", "megatron": "core_r0.8.0"}),
    "R-ENV-13": ({"container_devices": DEVICES[:3]}, {"container_devices": DEVICES}),
    "R-ENV-14": ({"shm_size_gb": 1, "cards": 8}, {"shm_size_gb": 64, "cards": 8}),
    "R-ENV-20": ({"container_image": "mindie:2.1"},
                 {"container_image": "mindie@sha256:" + "a" * 64}),
    "R-ENV-21": ({"container_engines": []}, {"container_engines": ["podman"]}),
    "R-ENV-22": ({"packages": ["Ascend-cann-kernels-310p_8.0.RC2_linux-aarch64.run"],
                  "arch": "aarch64", "chip": "910B3"},
                 {"packages": ["Ascend-cann-toolkit_8.0.RC2_linux-aarch64.run", "x.run"],
                  "arch": "aarch64", "chip": "910B3"}),
    "R-ENV-15": ({"mindie_image": "2.0.RC2-300I-py311-ubuntu", "product": "800I-A2"},
                 {"mindie_image": "2.0.RC2-800I-A2-py311-openeuler24.03-lts",
                  "product": "800I-A2"}),
    "R-ENV-16": ({"numa_nodes": 2}, {"numa_nodes": 8}),
    "R-ENV-17": ({"data_storage": "nfs"}, {"data_storage": "nvme"}),
    "R-ENV-18": ({"torch": "2.6.0", "torch_npu": "2.1.0.post12"},
                 {"torch": "2.1.0+cpu", "torch_npu": "2.1.0.post12"}),
    "R-ENV-19": ({ALLOC: "expandable_segments:True", "hdk": "22.0.4"},
                 {ALLOC: "expandable_segments:True", "hdk": "24.1.0"}),
    "R-ENV-23": ({"tool_options": SKIPPED, "megatron": "core_r0.8.0"},
                 {"tool_options": SKIPPED, "megatron": "core_r0.12.1"}),
    "R-ENV-24": ({"tool_options": SKIPPED},
                 {"tool_options": SKIPPED, "mindspeed": "2.0.0_core_r0.8.0"}),
    "R-SCR-01": (py("import torch\nx = x.to(memory_format=torch.channels_last)"),
                 py("import torch\nx = x.to(memory_format=torch.contiguous_format)")),
    "R-SCR-02": (py("import torch\n@torch.jit.script\ndef f(x): return x"),
                 manual("import torch\n@torch.jit.script\ndef f(x): return x")),
    "R-SCR-03": (py("if backend == 'nccl':\n    pass"), py("if backend == 'hccl':\n    pass")),
    "R-SCR-04": (manual("dist.init_process_group(backend='nccl')"),
                 manual("dist.init_process_group(backend='hccl')")),
    "R-SCR-05": (py("import torch\nimport mindspeed.megatron_adaptor"), py("import torch")),
    "R-SCR-06": (py("import amp_C"),
                 py("import torch\nimport mindspeed.megatron_adaptor\nimport amp_C")),
    "R-SCR-07": (py("x = x.cuda()"), py("x = x.npu()")),
    "R-SCR-08": (py("from torch_npu.contrib import transfer_to_npu as t\nt.get_npu_device()"),
                 py("from torch_npu.contrib import transfer_to_npu")),
    "R-SCR-09": ({"scripts": {"ops/a.cu": "__global__ void f() {}"}},
                 {"scripts": {"ops/a.cpp": "int f() { return 0; }"}}),
    "R-SCR-10": (py("import mindspeed.megatron_adaptor\nimport torch"),
                 py("import torch\nimport mindspeed.megatron_adaptor")),
    "R-SCR-11": ({"gpu2npu_distributed": True, "uses_dataloader": False},
                 {"gpu2npu_distributed": True, "uses_dataloader": True}),
    "R-SCR-12": (py(LOOP.format("total += loss.item()")), py(LOOP.format("loss.backward()"))),
    "R-SCR-13": (py("import torch\ny = torch.softmax(x.half(), -1)"),
                 py("import torch\ny = torch.softmax(x.float(), -1)")),
    "R-SCR-14": ({"dtype": "fp16", "loss_scaling": "static", "gradient_accumulation_dtype": "fp32"},
                 {"dtype": "bf16", "loss_scaling": "none", "gradient_accumulation_dtype": "fp32"}),
    "R-SCR-15": (py("class RMSNorm:\n    def forward(self, x): return x.pow(2).mean(-1)"),
                 py("class RMSNorm:\n    def forward(self, x): return x.float().pow(2).mean(-1)")),
    "R-SCR-16": (py("import tensorflow as tf\ns = tf.distribute.TPUStrategy(r)"),
                 py("import tensorflow as tf\ns = tf.distribute.MirroredStrategy()")),
    "R-SCR-17": (py("from torch import nn\nr = nn.GRU(8, 8).half()"),
                 py("from torch import nn\nr = nn.LSTMCell(8, 8).half()")),
    "R-SCR-18": (py("import cv2\nclass D:\n    def __getitem__(self, i): return cv2.imread(i)"),
                 py("import numpy as np\n"
                    "class D:\n    def __getitem__(self, i): return np.load(i)")),
    "R-SCR-19": (py("def collate(b):\n    return [x.permute(2, 0, 1) for x in b]"),
                 py("def collate(b):\n    return torch.stack(list(b)).permute(0, 3, 1, 2)")),
    "R-SCR-20": (py("import tensorflow as tf\ny = tf.nn.gelu(x)"),
                 py("import npu_device as npu\ny = npu.ops.gelu(x)")),
    "R-SCR-21": (py("from torch.utils.data import DataLoader\n"
                    "for epoch in range(3):\n    for b in DataLoader(d): pass"),
                 py("from torch.utils.data import DataLoader\nl = DataLoader(d)\n"
                    "for epoch in range(3):\n    for b in l: pass")),
    "R-SCR-22": (py("from pycocotools import mask as M\nm = M.decode(r)"),
                 py("from pycocotools import mask as M\na = M.area(r)")),
    "R-SCR-23": (py(ONE_READER.format("np.load(p)")), py(ONE_READER.format("torch.load(p)"))),
    "R-ACC-01": ({"is_dump": True, "is_config_check_passed": False},
                 {"is_dump": True, "is_config_check_passed": True}),
    "R-ACC-02": ({"config_check": SHEETS},
                 {"config_check": SHEETS, "reviewed_differences": ["weights"]}),
    "R-ACC-03": ({"seeds": ["torch", "numpy"]},
                 {"seeds": ["torch", "numpy", "random", "loader"]}),
    "R-ACC-04": ({"input_differences": ["dataset: step 0"]}, {"input_differences": []}),
    "R-ACC-05": ({"dump_steps": [], "dump_ranks": [0]}, {"dump_steps": [5], "dump_ranks": [0]}),
    "R-ACC-06": ({"dump_baseline": {"dtype": "fp32"}, "dump_candidate": {"dtype": "bf16"}},
                 {"dump_baseline": {"step": 5}, "dump_candidate": {"step": 5, "dtype": "bf16"}}),
    "R-ACC-07": ({"cards": 1, "config_ranks": [0]}, {"cards": 1, "config_ranks": []}),
    "R-ACC-08": ({"baseline_runs": 1, "compares_with_baseline": True},
                 {"baseline_runs": 3, "compares_with_baseline": True}),
    "R-ACC-09": ({"nonfinite_losses": 2}, {"nonfinite_losses": 0}),
    "R-CFG-01": ({ALLOC: "expandable_segments:True,max_split_size_mb:50"},
                 {ALLOC: "expandable_segments:True"}),
    "R-CFG-02": ({ALLOC: "garbage_collection_threshold:1"},
                 {ALLOC: "garbage_collection_threshold:0.95"}),
    "R-CFG-03": ({ALLOC: "max_split_size_mb:20"}, {ALLOC: "max_split_size_mb:50"}),
    "R-CFG-04": ({ALLOC: "base_addr_aligned_kb:17,expandable_segments:True"},
                 {ALLOC: "base_addr_aligned_kb:16,expandable_segments:True,page_size:1g"}),
    "R-CFG-05": ({ALLOC: "max_split_size_mb: 50, page_size:1g"}, {ALLOC: "max_split_size_mb:50"}),
    "R-CFG-06": ({ALLOC: "max_split_size_mb:50", "PYTORCH_ALLOC_CONF": "max_split_size_mb:50"},
                 {ALLOC: "", "PYTORCH_ALLOC_CONF": "max_split_size_mb:50"}),
    "R-CFG-07": ({"memory_fraction": 1.2}, {"memory_fraction": 0.95}),
    "R-CFG-08": ({"MULTI_STREAM_MEMORY_REUSE": "yes"}, {"MULTI_STREAM_MEMORY_REUSE": "1"}),
    "R-CFG-09": ({"HCCL_BUFFSIZE": "200MB"}, {"HCCL_BUFFSIZE": "200"}),
    "R-CFG-10": ({"torch_npu_plugin": "7.1.0", "asd_variables": True, "NPU_ASD_ENABLE": "1"},
                 {"torch_npu_plugin": "7.0.0", "asd_variables": True, "NPU_ASD_ENABLE": "1"}),
    "R-CFG-11": ({"NPU_ASD_ENABLE": "2"}, {"NPU_ASD_ENABLE": "1"}),
    "R-CFG-12": ({"asd_variables": True, "dtype": "bf16", "world_size": 8,
                  "parameters_billion": 7},
                 {"asd_variables": True, "dtype": "bf16", "world_size": 64,
                  "parameters_billion": 70, "jit_compile": False}),
    "R-CFG-26": ({"asd_variables": ASD["asd_variables"], "cp": 4},
                 {"asd_variables": ASD["asd_variables"], "cp": 1}),
    "R-CFG-13": ({"warmup_steps": 20, "train_iters": 2000},
                 {"warmup_steps": 10, "train_iters": 2000}),
    "R-CFG-14": ({"peak_lr": 1e-3}, {"peak_lr": 6e-5, "final_lr": 6e-6}),
    "R-CFG-15": ({"clip_grad": 1.0, "weight_decay": 0.1, "optimizer": "sgd"},
                 {"clip_grad": 1.0, "weight_decay": 0.1, "optimizer": "AdamW"}),
    "R-CFG-16": ({"train_iters": 200, "eval_interval": 1000, "is_evaluation_accepted": True},
                 {"train_iters": 2000, "eval_interval": 1000, "is_evaluation_accepted": True}),
    "R-CFG-17": ({"train_iters": 200, "save_interval": 1000, "is_weights_deliverable": True,
                  "save": "ckpt"},
                 {"train_iters": 200, "save_interval": 200, "is_weights_deliverable": True,
                  "save": "ckpt"}),
    "R-CFG-18": ({"split": "990,5"}, {"split": "990,5,5"}),
    "R-CFG-31": ({"gbs": 2048, "seq_length": 4096},
                 {"gbs": 2048, "seq_length": 4096, "batch_growth": "32"}),
    "R-CFG-32": ({"init_std": 0.1}, {"init_std": 0.01}),
    "R-CFG-28": ({"ASCEND_GLOBAL_LOG_LEVEL": "1"}, {"ASCEND_GLOBAL_LOG_LEVEL": "3"}),
    "R-CFG-29": ({"ASCEND_SLOG_PRINT_TO_STDOUT": "1"}, {"ASCEND_SLOG_PRINT_TO_STDOUT": ""}),
    "R-CFG-27": ({"profiler_settings": {"profiler_level": "Level0", "export": "text",
                                        "aicore_metrics": "PipeUtilization"}},
                 {"profiler_settings": {"profiler_level": "Level1", "export": "text,db",
                                        "aicore_metrics": "PipeUtilization", "op_attr": True}}),
    "R-CFG-19": ({"profiler": {**PROFILE, "steps": 7}}, {"profiler": PROFILE}),
    "R-CFG-20": ({"gc_threshold": [700, 0, 5]}, {"gc_threshold": [700, 10, 5]}),
    "R-CFG-21": ({"num_workers": 64, "cpus": 32}, {"num_workers": 8, "cpus": 32}),
    "R-CFG-22": ({"json_configs": {"a.json": '{"a": 1} // note'}},
                 {"json_configs": {"a.json": '{"a": 1}'}}),
    "R-CFG-23": ({"uses_dataloader": True, "has_prefetch": False},
                 {"uses_dataloader": True, "has_prefetch": True}),
    "R-CFG-24": ({"pads_batches": True, "has_length_buckets": False},
                 {"pads_batches": True, "has_length_buckets": True}),
    "R-CFG-25": ({"dtype": "bf16", "source_dtype": "fp16"},
                 {"dtype": "bf16", "source_dtype": "bf16"}),
    "R-PAR-01": ({"tp": 16, "cards_per_node": 8}, {"tp": 8, "cards_per_node": 8}),
    "R-PAR-02": ({"world_size": 8, "tp": 3, "pp": 1}, {"world_size": 8, "tp": 2, "pp": 2}),
    "R-PAR-03": ({"declared_dp": 8, "tp": 4, "pp": 2, "processes": 32},
                 {"declared_dp": 8, "tp": 4, "pp": 2, "processes": 64}),
    "R-PAR-04": ({"gbs": 15, "mbs": 1, "world_size": 8, "tp": 2, "pp": 2},
                 {"gbs": 16, "mbs": 1, "world_size": 8, "tp": 2, "pp": 2}),
    "R-PAR-05": ({"num_layers": 30, "pp": 4}, {"num_layers": 32, "pp": 4}),
    "R-PAR-06": ({"num_heads": 12, "hidden_size": 768, "tp": 8},
                 {"num_heads": 16, "hidden_size": 1024, "tp": 8}),
    "R-PAR-07": ({"tp": 1, "pp": 8, "cards_per_node": 8},
                 {"tp": 8, "pp": 2, "cards_per_node": 8}),
    "R-INF-01": ({"framework": "3", "model_file": "m.onnx"},
                 {"framework": "5", "model_file": "m.onnx"}),
    "R-INF-02": ({"framework": "0", "product": "800I A2"},
                 {"framework": "5", "product": "800I A2"}),
    "R-INF-03": ({"framework": "0", "model_file": "a.prototxt", "weight_file": "b.caffemodel"},
                 {"framework": "0", "model_file": "a.prototxt", "weight_file": "a.caffemodel"}),
    "R-INF-04": ({"opset": 17, "cann": "8.0.RC1"}, {"opset": 17, "cann": "7.0.0"}),
    "R-INF-05": ({"framework": "1", "atc_mode": "1", "input_format": "NCHW"},
                 {"framework": "1", "atc_mode": "0", "input_format": "NCHW"}),
    "R-INF-06": ({"soc_version": "Ascend310P3", "chip": "910B3"},
                 {"soc_version": "Ascend910B3", "chip": "910B3"}),
    "R-INF-07": ({"lite_input": "paddle"}, {"lite_input": "ONNX"}),
    "R-INF-08": ({"uses_lite": True, "python": "3.11.4", "LD_LIBRARY_PATH": "/usr/lib"},
                 {"uses_lite": True, "python": "3.11.4", "LD_LIBRARY_PATH": "/opt/python3.11/lib"}),
    "R-INF-09": ({"mindie_dtype": "float32"}, {"mindie_dtype": "bfloat16"}),
    "R-INF-10": ({"quantisation": "w8a8", "granularity": "group"},
                 {"quantisation": "w8a8", "granularity": "token"}),
    "R-INF-11": ({"mindie_parallel": {"tp": 8, "ep": 2}}, {"mindie_parallel": {"tp": 8, "ep": 1}}),
    "R-INF-12": ({"model_family": "Falcon"}, {"model_family": "Qwen2.5"}),
    "R-INF-13": ({"memory_alignment": 64}, {"memory_alignment": 128}),
    "R-INF-14": ({"acl_init_calls": 2}, {"acl_init_calls": 1}),
    "R-INF-16": ({"media_scenes": ["VDEC"], "media_memory": ["acl.rt.malloc"]},
                 {"media_scenes": ["JPEGD"], "media_memory": ["acl.media.dvpp_malloc"]}),
    "R-INF-17": (py("import acl\nacl.fv.search(SEARCH_N_M, given, found)"),
                 py("import acl\nacl.mdl.execute(model, given, found)")),
    "R-INF-15": ({"is_dvpp_chained": True}, {"is_dvpp_chained": False}),
}


def test_every_rule_has_vectors():
    assert set(VECTORS) == set(RULES)


@pytest.mark.parametrize("code", sorted(VECTORS))
def test_vectors(code):
    bad, good = VECTORS[code]
    hits = check(bad, [code]).hits
    assert [hit.rule for hit in hits] == [code] * len(hits)
    assert hits
    severity = {"R-ACC-08": "warn"}.get(code, RULES[code].severity)
    assert all(hit.place and hit.severity == severity for hit in hits)
    outcome = check(good, [code])
    assert (outcome.hits, outcome.clear, outcome.not_checked) == ([], [code], [])


def test_without_facts_nothing_is_passed():
    outcome = check({})
    assert (outcome.hits, outcome.clear) == ([], [])
    assert {n.rule for n in outcome.not_checked} == set(RULES)
    assert all(n.reason for n in outcome.not_checked)


def test_values_that_cannot_be_read_are_not_checked():
    outcome = check({"cann": "unknown", "opset": "x", "tp": "many", "cards_per_node": 8})
    unread = {n.rule for n in outcome.not_checked if n.unreadable}
    assert {"R-ENV-05", "R-INF-04", "R-PAR-01"} <= unread


def test_place_is_file_and_line():
    hit = check(py("import torch\nx.cuda()\n"), ["R-SCR-07"]).hits[0]
    assert (hit.place, hit.value) == ("train.py:2", "x.cuda()")


def test_versions_are_ordered():
    ordered = ["7.0.0", "8.0.0.alpha001", "8.0.RC1", "8.0.RC2", "8.0.0", "8.0.0.post1", "8.1.RC1"]
    assert sorted(ordered, key=version) == ordered


def test_matrix():
    assert torch_pair("2.1.0", "2.1.0.post12") is True
    assert torch_pair("2.1.0", "2.1.0.post99") is None  # not in the table: not judged
    assert torch_pair("2.6.0", "2.1.0.post12") is False
    assert megatron_for("2.0.0_core_r0.8.0") == "core_r0.8.0"


def test_checks_of_the_scan_name_known_rules():
    assert {c.rule for c in CHECKS.values()} - {""} <= set(RULES)


@pytest.mark.parametrize(("wanted", "chip", "is_right"), [
    ("Ascend910B", "910B3", False), ("Ascend910B3", "910B", False), ("ascend910b3", "910B3", True),
    ("Ascend310P", "310P3", False), ("Ascend310P3", "Ascend310P3", True)])
def test_the_chip_is_named_exactly(wanted, chip, is_right):
    outcome = check({"soc_version": wanted, "chip": chip}, ["R-INF-06"])
    assert (not outcome.hits) is is_right


def test_a_chip_without_its_variant_decides_nothing():
    outcome = check({"soc_version": "Ascend910_9391", "chip": "910"}, ["R-INF-06"])
    assert [found.rule for found in outcome.not_checked] == ["R-INF-06"]


@pytest.mark.parametrize(("facts", "places"), [
    ({"world_size": 32}, ["world_size"]), ({"world_size": 64, "dtype": "fp16"}, ["dtype"]),
    ({"world_size": 64, "dtype": "bf16", "parameters_billion": 70, "jit_compile": True},
     ["jit_compile"]),
    ({"world_size": 64, "dtype": "bf16", "parameters_billion": 70, "jit_compile": False,
      "cards": 8}, [])])
def test_asd_counts_all_cards_and_judges_what_is_known(facts, places):
    assert [hit.place for hit in check({**ASD, **facts}, ["R-CFG-12"]).hits] == places


@pytest.mark.parametrize("facts", [{}, {"dtype": "bf16", "parameters_billion": 70}])
def test_asd_with_a_condition_that_is_not_known_is_not_cleared(facts):
    outcome = check({**ASD, "world_size": 64, **facts}, ["R-CFG-12"])
    assert (outcome.clear, len(outcome.not_checked)) == ([], 1)


@pytest.mark.parametrize(("package", "chip", "is_wrong"), [
    ("Atlas-A3-cann-kernels_8.2.RC1_linux-aarch64.run", "910B3", True),
    ("Atlas-A3-cann-kernels_8.2.RC1_linux-aarch64.run", "Ascend910_9392", False),
    ("Ascend-cann-kernels-910b_8.2.RC1_linux-aarch64.run", "910_9392", True),
    ("Ascend-cann-kernels-910b_8.2.RC1_linux-aarch64.run", "910B3", False)])
def test_kernels_of_atlas_a3_have_a_name_of_their_own(package, chip, is_wrong):
    facts = {"packages": [package], "arch": "aarch64", "chip": chip}
    assert bool(list(_packages(facts))) is is_wrong
