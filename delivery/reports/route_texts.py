"""Passages that follow from the recorded routes of an engagement's models: they name what these
routes ask for, and no others.

While a model's route is not recorded the general text of the library stands for it.
"""

from collections.abc import Callable, Iterable, Iterator

from assessments.definitions.route_aspects import Side, sides_of
from engagements.migration_routes import Framework, InferenceRoute, TrainingRoute, framework_of
from engagements.models import MigratedModel

Line = tuple[str, str, str]  # codes of the models, Chinese, English
_F, _T, _I = Framework, TrainingRoute, InferenceRoute
# Lines by route, as (Chinese, English).
TRAINING_SCRIPTS: dict[str, tuple[str, str]] = {
    _T.AUTOMATIC: (
        "自动迁移（transfer_to_npu）：在入口脚本导入，改动最小；逐项核对日志中的接口替换。",
        "automatic (transfer_to_npu): imported by the entry script, the fewest changes; each replaced interface is checked in the log."),
    _T.TOOL: (
        "工具迁移：由迁移工具生成改动清单和未支持接口清单，逐项审查后移交。",
        "by tool: it writes the lists of changes and of unsupported interfaces, which are reviewed one by one and handed over."),
    _T.MANUAL: (
        "手工迁移：逐处修改设备、通信和混合精度相关代码，保留差异记录。",
        "by hand: device, communication and mixed-precision code is changed place by place, with a record of the differences."),
    _T.MINDSPEED: (
        "MindSpeed：按配套版本安装 Megatron-LM 与 MindSpeed，沿用基线的并行策略。",
        "MindSpeed: Megatron-LM and MindSpeed in matching versions, with the parallel strategy of the baseline."),
}
FRAMEWORKS: dict[str, tuple[str, str]] = {
    _F.TENSORFLOW: (
        "TensorFlow：以 npu_bridge 适配会话与优化器，随后以转储与比对定位精度问题。",
        "TensorFlow: session and optimiser are adapted with npu_bridge; dump and comparison locate deviations."),
    _F.MINDSPORE: (
        "MindSpore：以目标版本的接口改写网络与数据管道，以 msrun 或 rank table 启动分布式训练。",
        "MindSpore: network and data pipeline are written in the interfaces of the target version; msrun or a rank table starts distributed training."),
}
INFERENCE: dict[str, tuple[str, str]] = {
    _I.OFFLINE: (
        "离线模型：导出后以 ATC 按节点芯片型号转换为 .om，先核对单次推理，再测时延与吞吐。",
        "offline model: exported and converted by ATC to .om for the node's chip; one inference is checked before latency and throughput are measured."),
    _I.MINDIE: (
        "MindIE：以服务方式部署，先核对生成结果，再在约定的并发与长度下测首词元与每词元时延。",
        "MindIE: served; answers are checked first, then the latencies to the first and per further token at the agreed concurrency and lengths."),
    _I.VLLM_ASCEND: (
        "vLLM-Ascend：以服务方式部署，在约定的并发与长度下测吞吐与词元时延，并统计请求成功率。",
        "vLLM-Ascend: served; throughput and token latencies at the agreed concurrency and lengths, with the share of answered requests."),
    _I.MINDSPORE_LITE: (
        "MindSpore Lite：转换为 MindIR 后在目标设备上推理，先核对单次结果，再测时延。",
        "MindSpore Lite: converted to MindIR and run on the target; one result is checked before the latency is measured."),
    _I.ONLINE: (
        "在线推理：在训练框架内直接推理，使用与训练相同的版本与环境。",
        "online: inference within the framework, in the versions and environment of the training."),
}


def route_passage(code: str, models: Iterable[MigratedModel]) -> dict[str, str] | None:
    """The passage in both languages; None where it depends on no route, or one is not recorded."""
    if code not in PASSAGES:
        return None
    models = list(models)
    lines = [line for make in PASSAGES[code] for line in make(models)]
    if not lines or any(_is_open(model, code) for model in models):
        return None
    return {"zh": "\n".join(f"- {codes}：{zh}" for codes, zh, _en in lines),
            "en": "\n".join(f"- {codes}: {en}" for codes, _zh, en in lines)}


def _is_open(model: MigratedModel, code: str) -> bool:
    """Whether a route on which the passage rests is not recorded."""
    return any(side in SIDES[code] and side in sides_of(model) and not route for side, route in (
        (Side.TRAINING, model.training_route), (Side.INFERENCE, model.inference_route)))


def _grouped(models: list[MigratedModel], texts: dict[str, tuple[str, str]], side: Side,
             key: Callable[[MigratedModel], str | None]) -> Iterator[Line]:
    for value, (chinese, english) in texts.items():
        codes = [model.code for model in models if side in sides_of(model) and key(model) == value]
        if codes:
            yield ", ".join(codes), chinese, english


def _scripts(models: list[MigratedModel]) -> Iterator[Line]:
    return _grouped(models, TRAINING_SCRIPTS, Side.TRAINING, lambda model: model.training_route)


def _frameworks(models: list[MigratedModel]) -> Iterator[Line]:
    return _grouped(models, FRAMEWORKS, Side.TRAINING,
                    lambda model: framework_of(model.framework))


def _inference(models: list[MigratedModel]) -> Iterator[Line]:
    return _grouped(models, INFERENCE, Side.INFERENCE, lambda model: model.inference_route)


PASSAGES: dict[str, tuple[Callable[[list[MigratedModel]], Iterator[Line]], ...]] = {
    "as_strategy": (_scripts, _frameworks, _inference),
    "mp_training": (_scripts, _frameworks), "mp_inference": (_inference,)}
SIDES = {"as_strategy": (Side.TRAINING, Side.INFERENCE), "mp_training": (Side.TRAINING,),
         "mp_inference": (Side.INFERENCE,)}
