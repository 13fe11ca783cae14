"""The sample's survey: answered by the customer, submitted, confirmed by the consultant.

The answers follow the case of the solution guide; what follows from them is left to be taken
over, so that the preview has something to show.
"""

from django.db import transaction

from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.models import Survey
from delivery.surveys.services import (
    Change,
    confirm_survey,
    save_answers,
    start_survey,
    submit_survey,
)
from engagements.errors import InvalidInput
from engagements.models import Engagement, User
from engagements.stages import Scope

ENGAGEMENT = {
    "customer": "某智能电力公司，电力行业，陈国栋（信息中心）",
    "need": "变电站智能巡视：人员安全、设备状态、缺陷检测等 10 个模型由 GPU 迁移到昇腾。",
    "scope": ["training", "inference"], "goals": "国产化替代；训练与推理统一平台",
    "deadline": "2025-12-31", "windows": "迎峰度夏期间（7–8 月）不得影响在运系统",
    "model_count": 10,
    "gpu_type": "NVIDIA A800 80GB，8 卡/节点，1 节点",
    "gpu_software": "驱动 535.129.03，CUDA 12.1，PyTorch 2.1.0，nvcr.io/nvidia/pytorch:23.10",
    "architecture": "巡视终端采集 → 边缘预处理 → 中心推理集群 → 告警平台；中心集群每周增量训练",
    "chip": "910b", "cards": 8, "procurement": "cloud_have", "os": "EulerOS 2.0",
    "arch": "aarch64", "hosting": "bare", "cann": "驱动 24.1.RC2，固件 7.3.0.1.231，CANN 8.0.RC2",
    "network": "proxy", "packages": "经客户制品库代理获取 pip 与镜像，昇腾软件包由我方携带",
    "access": "经堡垒机 SSH 接入，专用交付账号；卡间 HCCS，节点间 RoCE",
    "storage": "本地 NVMe 7 TB，另有共享存储",
    "confidentiality": "图像数据不出域；日志与指标可上传作为证据，留存至质保期满",
    "evaluation": "目标检测 mAP@0.5，文本生成 ROUGE-L；评分脚本 v1.3",
    "criteria": "损失曲线平均相对误差 < 2 %，推理时延 < 200 ms；本台演练环境测量，陈国栋签署",
    "deliverables": ["code", "scripts", "report", "manual"],
    "duties": "提供源码、权重与测试集（信息中心 王工）；开通堡垒机与制品库（运维 李工）",
    "cloud": ["bms", "storage", "network"], "budget": 600000, "purchase": "framework",
    "payment": "合同签订 30 %，初验 40 %，终验 30 %", "invoice": "special", "tax": 6,
    "risks": ["data", "time"], "risk_text": "缺陷样本偏少；迎峰度夏期间窗口受限",
    "benefit": "推理时延下降，训练资源按需使用"}
MODEL = {
    "code_origin": "modified", "materials": "客户制品库 inspect/models", "framework": "pytorch",
    "framework_version": "2.1.0", "custom_ops": "no", "dynamic_shape": "no",
    "special_apis": ["channels_last"], "libraries": "mmcv 2.0.1",
    "dataset": "站内巡视图像 42 万张，COCO 格式，客户数据区，不可出域",
    "accuracy_metric": "mAP@0.5，客户测试集，2025-06-10", "accuracy_source": "measured_customer",
    "performance_source": "measured_customer", "model_kind": "vision",
    "cleaning_done": ["duplicates", "quality"],
    "accuracy_value": 0.91, "repeats": 3, "spread": 0.3, "throughput": 310, "peak_memory": 41.5,
    "step_time": 206, "latency": 38, "concurrency": 16, "inference_framework": "TensorRT 8.6",
    "model_format": "onnx", "latency_target": 200, "throughput_target": 120,
    "target_batch": 1, "target_concurrency": 16, "inference_shape": "640×640",
    "quantisation": "none", "dvpp": "yes",
    "training_task": "finetuning", "precision": "mixed", "mixed_method": "原生 AMP（FP16）",
    "parallel": "TP1 PP1 DP8", "train_cards": 8, "train_nodes": 1, "sequence": 1,
    "learning_rate": 0.01, "lr_schedule": "cosine", "warmup": 3, "warmup_unit": "epochs",
    "optimiser": "sgd", "betas": "0.937", "clip_grad": 10, "weight_decay": 0.0005, "seed": 1234,
    "micro_batch": 2,
    "global_batch": 64, "loss_curve": "客户侧：训练日志随基线提供"}
SPECIAL = {
    "LLM": {"custom_ops": "yes", "custom_ops_list": "fused_rope；fused_rmsnorm",
            "special_apis": ["amp_c", "apex"], "libraries": "flash-attn 2.5.6；Megatron-LM 0.8",
            "dataset": "巡检报告语料 1.2 GB，jsonl，客户数据区，不可出域",
            "model_kind": "llm", "cleaning_done": ["duplicates", "language", "leakage"],
            "accuracy_metric": "ROUGE-L，客户测试集，2025-06-12", "accuracy_value": 0.47,
            "training_task": "pretraining", "precision": "bf16", "parallel": "TP2 PP2 DP2",
            "sequence": 1024, "global_batch": 16, "token_throughput": 94208, "dvpp": "no",
            "token_latency": 32, "first_token": 210, "token_latency_target": 40,
            "first_token_target": 300, "token_throughput_target": 200, "input_length": 512,
            "output_length": 256, "target_concurrency": 8,
            "learning_rate": "1e-4", "warmup": 1, "warmup_unit": "percent", "optimiser": "adam",
            "betas": "0.9, 0.95", "clip_grad": 1, "weight_decay": 0.1, "micro_batch": 1,
            "inference_framework": "vLLM 0.4.2", "model_format": "safetensors"},
    "SWT": {"framework": "tensorflow", "framework_version": "1.15.0", "libraries": "无",
            "model_format": "savedmodel", "inference_framework": "TensorFlow Serving 1.15"},
    "OIL": {"framework": "mindspore", "framework_version": "2.2.14", "libraries": "无",
            "model_format": "other", "inference_framework": "MindSpore Lite 2.2"},
    "HLM": {"framework": "onnx", "framework_version": "opset 13", "libraries": "无",
            "code_origin": "authoritative", "quantisation": "w8a8", "quantisation_loss": 1},
    "MTR": {"dynamic_shape": "yes"}, "THM": {"code_origin": "own"}}


@transaction.atomic
def load_survey(engagement: Engagement, customer: User, consultant: User,
                other: dict[str, object] | None = None) -> Survey:
    """Begin, answer, submit and confirm the survey of the sample engagement, or of one that
    answers like it but for the `other` answers, by the name of the question.

    Raises InvalidInput for an answer that the survey refuses, and where one it needs is not known,
    as the size of a model without a number of parameters.
    """
    survey = start_survey(actor=customer, engagement=engagement)
    # an answer may make further questions asked
    while changes := _asked_and_known(survey, other or {}):
        saved = save_answers(actor=customer, survey=survey, changes=changes)
        if saved.errors:
            raise InvalidInput("; ".join(f"{name}: {why}" for name, why in saved.errors.items()))
    submit_survey(actor=customer, survey=survey)
    return confirm_survey(actor=consultant, survey=survey)


def _asked_and_known(survey: Survey, other: dict[str, object]) -> list[Change]:
    answers = _answers(survey.engagement) | other
    return [Change(cell.name, answers[cell.name], 0) for cell in Sheet(survey).asked
            if cell.value is None and cell.name in answers]


def _answers(engagement: Engagement) -> dict[str, object]:
    """Answers by the name of their input."""
    found: dict[str, object] = dict(ENGAGEMENT)
    for model in engagement.models.all():
        facts = {**MODEL, **SPECIAL.get(model.code, {}), "model_scope": Scope(model.scope).value,
                 "model_name": f"{model.name} v1"}
        if model.parameters_billion is not None:
            facts["parameters"] = str(model.parameters_billion)
        found.update({f"{key}@{model.code}": value for key, value in facts.items()})
    return found
