"""Chains that come with the product, one or more per route; a model's route chooses them."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from engagements.migration_routes import Framework, InferenceRoute, TrainingRoute, framework_of
from engagements.models import MigratedModel
from workers.models import JobChain

Step = dict[str, Any]
_F, _T, _I = Framework, TrainingRoute, InferenceRoute


@dataclass(frozen=True)
class ShippedChain:
    """A chain and the routes that it is for; None holds for all."""

    code: str
    title: Any
    description: Any
    steps: tuple[Step, ...]
    framework: str | None = None
    training: tuple[str, ...] = ()
    inference: tuple[str, ...] = ()

    def fits(self, model: MigratedModel) -> bool:
        """Whether it is one of the model's recorded route."""
        return (self.framework in (None, framework_of(model.framework))
                and (not self.training or model.training_route in self.training)
                and (not self.inference or model.inference_route in self.inference))


def _step(kind: str, name: str = "", **parameters: Any) -> Step:
    return {"kind": kind, "name": name, "parameters": parameters, "condition": None}


# What is given at the start, in words.
GIVEN = {
    "source": _("Source folder on the node"), "entry": _("Entry script"),
    "tool": _("main.py of convert_tf2npu"), "script": _("Script of the migrated project"),
    "dump_script": _("Script with PrecisionDebugger"),
    "pack_script": _("Script with ConfigChecker"), "profile_script": _("Script with the profiler"),
    "gpu_pack": _("Configuration pack of the GPU run"), "gpu_dump": _("Dump of the GPU run"),
    "checkpoints": _("Folder of the checkpoints"), "model_file": _("Model file on the node"),
    "weights": _("Folder of the weights"), "baseline": _("Baseline log (file number)"),
    "seq_length": _("Sequence length"), "om_dump": _("Dump of the offline model"),
    "om_golden": _("Dump of the reference"), "scheme": _("Scheme of the quantisation"),
    "package": _("Folder of MindSpore Lite"),
}
CHAINS = (
    ShippedChain(
        "environment_pytorch", _("Environment: PyTorch"),
        _("Cards, host, versions and PyTorch on the NPU."),
        (_step("env.npu_info"), _step("env.host_probe"), _step("env.software"),
         _step("env.torch_check")), framework=_F.PYTORCH),
    ShippedChain(
        "environment_tensorflow", _("Environment: TensorFlow"),
        _("Cards, host, versions and TensorFlow on the NPU."),
        (_step("env.npu_info"), _step("env.host_probe"), _step("env.software"),
         _step("env.tf_check")), framework=_F.TENSORFLOW),
    ShippedChain(
        "environment_mindspore", _("Environment: MindSpore"),
        _("Cards, host, versions and MindSpore on the NPU."),
        (_step("env.npu_info"), _step("env.host_probe"), _step("env.software"),
         _step("env.ms_check")), framework=_F.MINDSPORE),
    ShippedChain(
        "pytorch_tool", _("PyTorch: analyse and convert"),
        _("Unsupported APIs, third-party libraries and affinity APIs, then the converted code with "
          "its diff."),
        (_step("survey.pt_analyse", "apis", source="{given.source}", mode="torch_apis"),
         _step("survey.pt_analyse", "suites", source="{given.source}", mode="third_party"),
         _step("survey.pt_analyse", "affinity", source="{given.source}", mode="affinity_apis"),
         _step("adapt.gpu2npu", source="{given.source}")),
        framework=_F.PYTORCH, training=(_T.TOOL, "")),
    ShippedChain(
        "pytorch_automatic", _("PyTorch: automatic migration"),
        _("Unsupported APIs, the check of transfer_to_npu, and a smoke training with its "
          "checkpoints."),
        (_step("survey.pt_analyse", "apis", source="{given.source}", mode="torch_apis"),
         _step("survey.pt_analyse", "suites", source="{given.source}", mode="third_party"),
         _step("adapt.auto_patch_check", source="{given.source}", entry="{given.entry}"),
         _step("adapt.smoke_train", script="{given.entry}"),
         _step("adapt.ckpt_check", folder="{given.checkpoints}")),
        framework=_F.PYTORCH, training=(_T.AUTOMATIC,)),
    ShippedChain(
        "tensorflow_tool", _("TensorFlow: scan and convert"),
        _("The report of convert_tf2npu, and a smoke training of the converted script."),
        (_step("survey.tf_scan", tool="{given.tool}", source="{given.source}",
               entry="{given.entry}"),
         _step("adapt.smoke_train", script="{given.script}")),
        framework=_F.TENSORFLOW),
    ShippedChain(
        "accuracy_pytorch", _("PyTorch: accuracy"),
        _("Configurations compared, one step dumped, first NaN over the ranks, operators compared: "
          "what comes before the curve."),
        (_step("acc.config_pack", "pack", script="{given.pack_script}"),
         _step("acc.config_check", bench="{given.gpu_pack}", candidate="{steps.pack.output}"),
         _step("acc.dump", "dump", script="{given.dump_script}", level="mix"),
         _step("acc.overflow_check", dump="{steps.dump.output}"),
         _step("acc.compare", target="{steps.dump.output}", golden="{given.gpu_dump}")),
        framework=_F.PYTORCH, training=tuple(_T.values)),
    ShippedChain(
        "training_verdict", _("Training: curve and throughput"),
        _("A training with Megatron, its loss curve against the baseline, its throughput."),
        (_step("adapt.megatron_train", "train"),
         _step("acc.loss_compare", baseline="{given.baseline}",
               candidate="{steps.train.files.log.txt}"),
         _step("perf.throughput", log="{steps.train.files.log.txt}",
               seq_length="{given.seq_length}")),
        training=(_T.MINDSPEED,)),
    ShippedChain(
        "performance_pytorch", _("PyTorch: profile and advice"),
        _("A profile of the training, and what msprof-analyze advises."),
        (_step("perf.profile", "profile", script="{given.profile_script}"),
         _step("perf.advisor", profile="{steps.profile.output}")),
        framework=_F.PYTORCH, training=tuple(_T.values)),
    ShippedChain(
        "offline_model", _("Offline model: convert, compare, measure"),
        _("ATC, the accuracy of the offline model, its latency and throughput."),
        (_step("inf.atc", "convert", model_file="{given.model_file}"),
         _step("acc.om_compare", dump="{given.om_dump}", golden="{given.om_golden}"),
         _step("inf.om_bench", model_file="{steps.convert.files.*.om}")),
        inference=(_I.OFFLINE,)),
    ShippedChain(
        "mindie", _("MindIE: quantise and answer"),
        _("One question, the quantisation, and the same question to the quantised weights."),
        (_step("inf.mindie_run", "plain", weights="{given.weights}"),
         _step("inf.quant", "quantise", weights="{given.weights}", scheme="{given.scheme}"),
         _step("inf.mindie_run", "quantised", weights="{steps.quantise.folder}/quantised")),
        inference=(_I.MINDIE,)),
    ShippedChain(
        "vllm_ascend", _("vLLM-Ascend: serve"),
        _("The service starts and answers; the benchmark runs beside a service that is kept."),
        (_step("inf.vllm_serve", weights="{given.weights}", model_name="{model}", hold=0),),
        inference=(_I.VLLM_ASCEND,)),
    ShippedChain(
        "mindspore_lite", _("MindSpore Lite: convert and measure"),
        _("The converted model, loaded, run and measured."),
        (_step("inf.mslite", "convert", model_file="{given.model_file}"),
         _step("inf.lite_bench", model_file="{steps.convert.files.*.mindir}",
               package="{given.package}")),
        inference=(_I.MINDSPORE_LITE,)),
)
BY_CODE = {chain.code: chain for chain in CHAINS}


def fitting(model: MigratedModel) -> list[ShippedChain]:
    """Those of the model's route, in their order."""
    return [chain for chain in CHAINS if chain.fits(model)]


def titled(chain: JobChain) -> JobChain:
    """The chain with `title` and `about` in the active language."""
    shipped = BY_CODE.get(chain.code or "")
    chain.title = str(shipped.title) if shipped else chain.name
    chain.about = str(shipped.description) if shipped else chain.description
    return chain


def given_label(name: str) -> str:
    """What has to be given, in words; a name that somebody chose as it stands."""
    return str(GIVEN.get(name, name))
