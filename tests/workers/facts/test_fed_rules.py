"""Each rule that readings feed: one case that hits and one that does not, from files."""

import pytest

from tests.workers.facts.texts import (
    dump_config,
    megatron,
    model_config,
    pip,
    probe,
    service,
    software,
)
from workers.rules import check

NODE, CHECK = "node/24.1.rc1.b030_910B3_8cards.txt", "accuracy/config_check"
TRAIN = "adapt.megatron_train"
SIZES = {"num_layers": 80, "hidden_size": 8192, "attention_heads": 64}
FRAMEWORKS = "node/pip_frameworks.txt"
SEEDS = "import torch, random\nimport numpy as np\ntorch.manual_seed(1)\nnp.random.seed(1)\n"
LOADER = ("from torch.utils.data import DataLoader\nrandom.seed(1)\n"
          "DataLoader(d, num_workers={workers}, worker_init_fn=f, pin_memory=True)\n")


def scan(text, name="train.py"):
    return {"scan": {name: text}}


def schedule(**steps):
    given = ", ".join(f"{name}={n}" for name, n in steps.items())
    return scan(f"import torch_npu\nschedule = torch_npu.profiler.schedule({given})\n")


def allocator(text):
    return software(environment=f'{{"PYTORCH_NPU_ALLOC_CONF": "{text}"}}')


def environment(**variables):
    pairs = ", ".join(f'"{name}": "{value}"' for name, value in variables.items())
    return software(environment=f"{{{pairs}}}")


# rule: (what hits, what does not); each is (files, job, what is known of the model)
CASES = {
    "R-ENV-01": ((["node/23.0.5_warning_then_reset_before.txt"],), ([NODE],)),
    "R-ENV-02": (([FRAMEWORKS, probe(python="3.8.10")],), ([FRAMEWORKS, probe()],)),
    "R-ENV-03": (([pip(tensorflow="2.6.5"), probe(gcc="10.3.1")],),
                 ([pip(tensorflow="2.6.5"), probe()],)),
    "R-ENV-04": (([probe(os="Alpine Linux v3.19")],), ([probe()],)),
    "R-ENV-05": (([{"toolkit.info": "package_name=Ascend-cann-toolkit\nversion=5.1.RC2\n"
                                    "innerversion=V100R001C80\narch=aarch64\n"}],),
                 (["node/ascend_toolkit_install.info"],)),
    "R-ENV-06": (([software(parts=("kernels", "toolkit"))],), ([software()],)),
    "R-ENV-07": (([FRAMEWORKS, software(kernels="false")],), ([FRAMEWORKS, software()],)),
    "R-ENV-08": (([pip(tensorflow="2.6.5"), probe(arch="x86_64")],),
                 ([pip(tensorflow_cpu="2.6.5"), probe(arch="x86_64")],)),
    "R-ENV-09": (([pip(tensorflow_cpu="2.6.5", mindspore="2.3.0"), probe()],),
                 ([pip(tensorflow_cpu="2.6.5", mindspore="2.3.0"), probe(python="3.9.2")],)),
    "R-ENV-10": (([software()],), ([environment(ASCEND_HOME_PATH="/usr/local/Ascend")],)),
    "R-ENV-11": (([software(tool_path="/usr/local/Ascend/ascend-toolkit/latest/tools")],),
                 ([software()],)),
    "R-ENV-12": (([], ("env.mindspeed_install", {"megatron_branch": "core_r0.6.0"})),
                 ([], ("env.mindspeed_install", {}))),
    "R-ENV-13": (([], None, {"container_devices": ["/dev/davinci_manager"]}),
                 ([], ("env.mindie_container", {}))),
    "R-ENV-14": (([], ("env.mindie_container", {"shm_gb": 1})),
                 ([], ("env.mindie_container", {"shm_gb": 64}))),
    "R-ENV-15": (([probe()], ("env.mindie_container", {"image": "mindie:2.0.RC2-300I-Duo-py311"})),
                 ([probe()], ("env.mindie_container",
                              {"image": "mindie:2.0.RC2-800I-A2-py311-openeuler24.03-lts"}))),
    "R-ENV-16": (([probe(numa=2)],), ([probe()],)),
    "R-ENV-17": (([probe()], (TRAIN, {"data_path": "/share/corpus"})),
                 ([probe()], (TRAIN, {"data_path": "/data/corpus"}))),
    "R-ENV-18": (([FRAMEWORKS],), ([pip(torch="2.1.0", torch_npu="2.1.0.post8")],)),
    "R-ENV-19": (([{"driver.info": "Version=22.0.4\nascendhal_version=7.35.19\n"},
                   allocator("expandable_segments:True")],),
                 (["node/driver_version.info", allocator("expandable_segments:True")],)),
    "R-SCR-11": (([scan("import torch\nmodel = torch.nn.Linear(1, 1)\n")],
                  ("adapt.gpu2npu", {"entry": "~/train.py"})),
                 ([scan("import torch\n" + LOADER.format(workers=8))],
                  ("adapt.gpu2npu", {"entry": "~/train.py"}))),
    "R-SCR-14": (([], (TRAIN, {"precision": "fp16", "extra": "--loss-scale 1024"})),
                 ([], (TRAIN, {"precision": "bf16"}))),
    "R-ACC-01": (([f"{CHECK}/result.xlsx"], ("acc.dump", {"config": "~/c.json"})),
                 ([f"{CHECK}/same.xlsx"], ("acc.dump", {"config": "~/c.json"}))),
    "R-ACC-02": (([f"{CHECK}/result.xlsx"],), ([f"{CHECK}/same.xlsx"],)),
    "R-ACC-03": (([scan(SEEDS)],), ([scan(SEEDS + LOADER.format(workers=8))],)),
    "R-ACC-04": (([f"{CHECK}/result.xlsx"],), ([f"{CHECK}/same.xlsx"],)),
    "R-ACC-05": (([dump_config(step="[]")],), ([dump_config()],)),
    "R-ACC-06": ((["accuracy/compare/26-bf16-statistics.xlsx"],),
                 (["accuracy/compare/26-conv3x105-tensor.xlsx"],)),
    "R-ACC-07": (([dump_config(rank="[0]")], ("acc.dump", {"config": "~/c.json"})),
                 ([dump_config()], ("acc.dump", {"config": "~/c.json"}))),
    "R-ACC-08": (([], None, {"baseline_runs": 1, "compares_with_baseline": True}),
                 ([], None, {"baseline_runs": 3, "compares_with_baseline": True})),
    "R-ACC-09": ((["curves/ng_nan.log.gz"],), (["curves/ng_bf16.log.gz"],)),
    "R-CFG-01": (([allocator("expandable_segments:True,max_split_size_mb:50")],),
                 (["performance/profile/profiler_metadata.json"],)),
    "R-CFG-06": (([environment(PYTORCH_NPU_ALLOC_CONF="max_split_size_mb:50",
                               PYTORCH_ALLOC_CONF="max_split_size_mb:50")],),
                 (["accuracy/config_check/cmp_npu.zip"],)),
    "R-CFG-07": (([scan("import torch\ntorch.npu.set_per_process_memory_fraction(1.5)\n")],),
                 ([scan("import torch\ntorch.npu.set_per_process_memory_fraction(0.95)\n")],)),
    "R-CFG-08": (([environment(MULTI_STREAM_MEMORY_REUSE="yes")],),
                 (["accuracy/config_check/cmp_npu.zip"],)),
    "R-CFG-09": (([environment(HCCL_BUFFSIZE="200MB")],),
                 (["accuracy/config_check/cmp_npu.zip"],)),
    "R-CFG-10": (([pip(torch="2.1.0", torch_npu="2.1.0.post13"),
                   environment(NPU_ASD_ENABLE="1")],),
                 ([pip(torch="2.1.0", torch_npu="2.1.0.post12"),
                   environment(NPU_ASD_ENABLE="1")],)),
    "R-CFG-11": (([environment(NPU_ASD_ENABLE="3")],), (["accuracy/config_check/cmp_npu.zip"],)),
    "R-CFG-12": (([environment(NPU_ASD_ENABLE="1")], (TRAIN, SIZES)),
                 ([environment()], (TRAIN, SIZES))),
    "R-CFG-28": (([environment(ASCEND_GLOBAL_LOG_LEVEL="0")],), ([environment()],)),
    "R-CFG-29": (([environment(ASCEND_SLOG_PRINT_TO_STDOUT="1")],), ([environment()],)),
    "R-CFG-26": (([environment(NPU_ASD_ENABLE="1")], (TRAIN, {"context_parallel": 2})),
                 ([environment(NPU_ASD_ENABLE="1")], (TRAIN, {"context_parallel": 1}))),
    "R-CFG-31": (([], (TRAIN, {"global_batch_size": 2048, "seq_length": 4096})),
                 ([], (TRAIN, {"global_batch_size": 16, "seq_length": 4096}))),
    "R-CFG-32": (([], (TRAIN, {"init_std": 0.1})), ([], (TRAIN, {"init_std": 0.01}))),
    "R-CFG-13": (([], (TRAIN, {"warmup_fraction": 0.01})),
                 ([], (TRAIN, {"warmup_fraction": 0.005}))),
    "R-CFG-16": (([], (TRAIN, {"extra": "--eval-interval 1000"}),
                  {"is_evaluation_accepted": True}),
                 ([], (TRAIN, {"eval_interval": 100}), {"is_evaluation_accepted": True})),
    "R-CFG-17": (([], (TRAIN, {"extra": "--train-iters 10", "save_interval": 100}),
                  {"is_weights_deliverable": True}),
                 ([], (TRAIN, {}), {"is_weights_deliverable": True})),
    "R-CFG-19": (([schedule(wait=1, warmup=0, active=2, repeat=2)],),
                 (["performance/profile/profiler_info_0.json"],)),
    "R-CFG-20": (([scan("import gc\ngc.disable()\n")],),
                 ([scan("import gc\ngc.set_threshold(700, 10, 5)\n")],)),
    "R-CFG-21": (([scan("import torch\n" + LOADER.format(workers=256)), probe()],),
                 ([scan("import torch\n" + LOADER.format(workers=8)), probe()],)),
    "R-CFG-22": (([scan('{"a": 1} // note\n', "config.json")],),
                 ([scan('{"a": 1}\n', "config.json")],)),
    "R-CFG-23": (([scan("import torch\n" + LOADER.format(workers=8))],),
                 ([scan("import torch\n" + LOADER.format(workers=8).replace(
                     "pin_memory=True", "prefetch_factor=4"))],)),
    "R-CFG-24": (([scan("import torch\ntokenizer(text, padding=True)\n")],),
                 ([scan("import torch\ntokenizer(text, padding=True)\n"
                        "Arguments(group_by_length=True)\n")],)),
    "R-CFG-25": (([], (TRAIN, {"precision": "bf16"}), {"source_dtype": "fp16"}),
                 ([], (TRAIN, {"precision": "fp16"}), {"source_dtype": "fp16"})),
    "R-ENV-22": (([NODE, probe()], ("env.hdk_install", {
        "driver": "~/Ascend-hdk-310p-npu-driver_24.1.rc2_linux-x86-64.run",
        "firmware": "~/Ascend-hdk-310p-npu-firmware_7.3.0.1.231.run"})),
                 ([NODE, probe()], ("env.hdk_install", {
                     "driver": "~/Ascend-hdk-910b-npu-driver_24.1.rc2_linux-aarch64.run",
                     "firmware": "~/Ascend-hdk-910b-npu-firmware_7.3.0.1.231.run"}))),
    "R-PAR-03": (([megatron(world=32, dp=8)],), ([megatron(world=64, dp=8)],)),
    "R-PAR-06": (([], (TRAIN, {"extra": "--num-attention-heads 12 --hidden-size 770"})),
                 ([], (TRAIN, SIZES))),
    "R-INF-02": (([probe()], ("inf.atc", {"framework": "0"})),
                 ([probe()], ("inf.atc", {"framework": "5"}))),
    "R-INF-03": (([], ("inf.atc", {"framework": "0", "model_file": "~/a.prototxt"})),
                 ([], ("inf.atc", {"framework": "0", "model_file": "~/a.prototxt",
                                   "weight_file": "~/a.caffemodel"}))),
    "R-INF-04": ((["accuracy/onnx/relu_opset19.onnx", "node/ascend_toolkit_install.info"],),
                 (["accuracy/onnx/relu_opset13.onnx", "node/ascend_toolkit_install.info"],)),
    "R-INF-05": (([], ("inf.atc", {"framework": "1", "model_file": "a.air",
                                   "input_format": "NHWC"})),
                 ([], ("inf.atc", {"framework": "1", "model_file": "a.air"}))),
    "R-INF-06": (([NODE], ("inf.atc", {"soc_version": "Ascend310P3"})),
                 ([NODE], ("inf.atc", {"soc_version": "Ascend910B3"}))),
    "R-INF-07": (([], None, {"lite_input": "PADDLE"}), ([], ("inf.mslite", {}))),
    "R-INF-08": (([probe(python="3.11.4")], ("inf.mslite", {})),
                 ([probe(python="3.11.4")],
                  ("inf.mslite", {"library_path": "/opt/python3.11/lib"}))),
    "R-INF-09": (([model_config(torch_dtype="float32")],), ([model_config()],)),
    "R-INF-10": (([{"quant_model_description.json": '{"model_quant_type": "W8A8", "group_size": '
                    '128, "layers.0.q_proj.weight": "W8A8"}'}],),
                 (["accuracy/quantisation/quant_model_description.json"],)),
    "R-INF-11": (([service(',\n "dp": 2, "tp": 4, "moe_ep": 1')],),
                 ([service(',\n "dp": 1, "tp": 8')],)),
    "R-INF-12": (([model_config(model_type="falcon")],), ([model_config()],)),
    "R-INF-13": (([scan("import acl\nMEMORY_ALIGN = 64\nacl.media.dvpp_malloc(8)\n")],),
                 ([scan("import acl\nMEMORY_ALIGN = 128\nacl.media.dvpp_malloc(8)\n")],)),
    "R-INF-14": (([scan("import acl\nacl.init()\nacl.init()\n")],),
                 ([scan("import acl\nacl.init()\n")],)),
    "R-INF-16": (([scan("import acl\nacl.media.vdec_send_frame(c)\nacl.rt.malloc(8, 0)\n")],),
                 ([scan("import acl\nacl.media.dvpp_jpeg_decode_async(c)\n"
                        "acl.media.dvpp_malloc(8)\n")],)),
    "R-INF-15": (([], ("inf.atc", {"aipp": "~/aipp.cfg"})), ([], ("inf.atc", {}))),
}


@pytest.mark.slow
@pytest.mark.parametrize("code", sorted(CASES))
def test_rule_hits_and_clears(code, facts):
    bad, good = CASES[code]
    hits = check(facts(*bad), [code]).hits
    assert {hit.rule for hit in hits} == {code}
    if bad[0]:  # a rule that was read says from which file
        assert all(hit.source and hit.artifact for hit in hits), hits
    outcome = check(facts(*good), [code])
    assert (outcome.hits, outcome.clear, outcome.not_checked) == ([], [code], [])


PLACES = [  # rule, case, value, place, and file with line
    ("R-ENV-18", "1.11.0, 2.1.0.post8.dev20241009", "torch, torch_npu", "pip_frameworks.txt:2"),
    ("R-ENV-01", "Warning", "chip 0", "23.0.5_warning_then_reset_before.txt:7"),
    ("R-ENV-02", "3.8.10, 2.3.0", "python, mindspore", "host.txt:15; pip_frameworks.txt:3"),
    ("R-ACC-09", "1261", "nonfinite_losses", "ng_nan.log.gz:1815"),
    ("R-ACC-02", "FALSE", "summary: env", "result.xlsx:2"),
    ("R-INF-09", "float32", "mindie_dtype", "config.json:6"),
    ("R-CFG-20", "[0]", "gc_threshold", "source.zip: train.py:2"),
    ("R-PAR-03", "8, 2, 4, 32", "declared_dp, tp, pp, processes", "log.txt:1"),
]


@pytest.mark.parametrize(("code", "value", "place", "source"), PLACES)
def test_hit_says_value_and_place(code, value, place, source, facts):
    hit = check(facts(*CASES[code][0]), [code]).hits[0]
    assert (hit.value, hit.place, hit.source) == (value, place, source)
    assert source in hit.sentence
