"""Of which family and size a model is, and the chip, versions and strategy of a run, as short
texts that name no customer.

A family is known by its published name in the model's name or repository; any other model is one
of a kind (detection, speech, …), or of no family at all.
"""

import re
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext_noop

from engagements.models import MigratedModel

# Published names, as their repositories on Hugging Face and in openMind/ModelZoo write them.
# What comes first wins: Qwen-VL is no Qwen.
FAMILIES = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in (
    ("Qwen-VL", r"qwen[\d.]*-?(?:vl|omni)"), ("Qwen", r"qwen|通义千问|qwq"),
    ("DeepSeek", r"deepseek"), ("LLaVA", r"llava"), ("Llama", r"llama|vicuna|alpaca"),
    ("GLM", r"chatglm|\bglm-?\d|\bglm\b|codegeex"), ("Baichuan", r"baichuan|百川"),
    ("InternVL", r"internvl"), ("InternLM", r"internlm|书生"), ("Mixtral", r"mixtral"),
    ("Mistral", r"mistral"), ("Yi", r"(?<![a-z])yi-\d"), ("Gemma", r"gemma"),
    ("Phi", r"(?<![a-z])phi-?\d"), ("PanGu", r"pangu|盘古"), ("BLOOM", r"bloomz?(?![a-z])"),
    ("GPT", r"(?<![a-z])gpt(?![a-z])|gpt[-_]?\d"), ("BERT", r"bert"), ("T5", r"(?<![a-z])m?t5"),
    ("Whisper", r"whisper"), ("Conformer", r"conformer|wenet|paraformer"),
    ("CLIP", r"(?<![a-z])clip(?![a-z])"),
    ("Stable Diffusion", r"stable[-_ ]?diffusion|sdxl|(?<![a-z])sd[123]"), ("FLUX", r"flux\.?1"),
    ("SAM", r"segment[-_ ]?anything|(?<![a-z])sam2?(?![a-z])"), ("YOLO", r"yolo"),
    ("R-CNN", r"r-?cnn"), ("DETR", r"detr"), ("ResNet", r"resn(?:e|ex)t"),
    ("EfficientNet", r"efficientnet"), ("MobileNet", r"mobilenet"),
    ("Swin", r"(?<![a-z])swin"), ("ViT", r"(?<![a-z])vit(?![a-z])"), ("U-Net", r"u-?net"),
    ("DLRM", r"dlrm"), ("DeepFM", r"deepfm|wide.?deep"), ("PP-OCR", r"pp-?ocr|paddleocr")))
KINDS = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in (
    (gettext_noop("multimodal model"), r"multimodal|多模态|图文"),
    (gettext_noop("language model"),
     r"text generation|language model|文本生成|语言模型|大模型|对话"),
    (gettext_noop("object detection"), r"detect|检测|巡检识别"),
    (gettext_noop("segmentation"), r"segment|分割"),
    (gettext_noop("text recognition"), r"\bocr\b|文字识别"),
    (gettext_noop("speech recognition"), r"speech|语音"),
    (gettext_noop("recommendation"), r"recommend|推荐"),
    (gettext_noop("image generation"), r"image generation|文生图|图像生成"),
    (gettext_noop("classification"), r"classif|分类|识别"),
    (gettext_noop("retrieval"), r"retriev|检索|特征"),
    (gettext_noop("forecasting"), r"forecast|预测")))
# Upper bounds in billions of parameters; a size is the text before the bound it stays within.
SIZES = ((Decimal("0.1"), "≤0.1B"), (1, "0.1–1B"), (4, "1–4B"), (10, "4–10B"), (20, "10–20B"),
         (50, "20–50B"), (100, "50–100B"), (300, "100–300B"))
LARGEST = ">300B"
CHIP = re.compile(r"(?:Ascend\s*)?((?:910|310|950)\w{0,4}|Atlas\s*\w+)|"
                  r"\b((?:A|H|B|L|V|T|P)\d{1,3}\w{0,3}|RTX\s?\w{4,8}|MI\d{3}\w?)\b",
                  re.IGNORECASE)
VERSION = re.compile(r"\d[\w.+-]{0,28}")
# What a run's framework is recognised by: the first of them that its environment names.
FRAMEWORKS = ("torch_npu", "mindspore", "tensorflow", "mindie", "vllm_ascend", "torch")
SIZES_OF_STRATEGY = (("tensor_parallel", "TP"), ("pipeline_parallel", "PP"),
                     ("context_parallel", "CP"), ("expert_parallel", "EP"),
                     ("tp", "TP"), ("pp", "PP"))


def family_of(model: MigratedModel) -> str:
    """The family by its published name, else the kind of model; empty where neither shows."""
    named = " ".join((model.repository, model.name, model.name_en, model.code))
    found = next((name for name, pattern in FAMILIES if pattern.search(named)), "")
    described = f"{model.task} {model.task_en} {named}"
    return found or next((name for name, pattern in KINDS if pattern.search(described)), "")


def size_of(model: MigratedModel) -> str:
    """The class of its number of parameters, such as `4–10B`; empty where it is not known."""
    if not model.parameters_billion:
        return ""
    return next((text for most, text in SIZES if model.parameters_billion <= most), LARGEST)


def chip_of(text: Any) -> str:
    """The chip as it is called in the field; empty for a text that names none."""
    found = CHIP.search(str(text or ""))
    return (found[1] or found[2]).upper().replace(" ", "") if found else ""


def version_of(text: Any) -> str:
    found = VERSION.search(str(text or ""))
    return found[0] if found else ""


def framework_of(environment: dict[str, Any]) -> str:
    """Framework and version, such as `torch_npu 2.1.0.post6`."""
    for name in FRAMEWORKS:
        if version := version_of(environment.get(name)):
            return f"{name} {version}"
    return ""


def strategy_of(cards: int, parameters: dict[str, Any]) -> str:
    """Cards and parallel sizes above 1, such as `×16 TP8 PP2`; empty where no card was asked
    for."""
    if not cards:
        return ""
    sizes = {label: int(parameters[name]) for name, label in SIZES_OF_STRATEGY
             if str(parameters.get(name) or "").isdigit()}
    return " ".join([f"×{cards}", *(f"{label}{n}" for label, n in sizes.items() if n > 1)])
