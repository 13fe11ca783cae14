"""Routes by which a model moves to the NPU (DOMAIN 2.2); gates and documents follow from them."""

import re

from django.db import models
from django.utils.translation import gettext_lazy as _


class Framework(models.TextChoices):
    PYTORCH = "pytorch", "PyTorch"
    TENSORFLOW = "tensorflow", "TensorFlow"
    MINDSPORE = "mindspore", "MindSpore"
    OTHER = "other", _("Other")


class TrainingRoute(models.TextChoices):
    AUTOMATIC = "automatic", _("Automatic (transfer_to_npu)")
    TOOL = "tool", _("Conversion tool")
    MANUAL = "manual", _("By hand")
    MINDSPEED = "mindspeed", "MindSpeed / ModelLink"


class InferenceRoute(models.TextChoices):
    OFFLINE = "offline", _("Offline model (ATC, .om)")
    MINDIE = "mindie", "MindIE"
    VLLM_ASCEND = "vllm_ascend", "vLLM-Ascend"
    MINDSPORE_LITE = "mindspore_lite", "MindSpore Lite"
    ONLINE = "online", _("Online in the framework")


_NAMES = ((Framework.TENSORFLOW, r"tensorflow|^tf\b"),
          (Framework.MINDSPORE, r"mindspore|mindformers"),
          (Framework.PYTORCH, r"torch|megatron|mindspeed"))


def framework_of(text: str) -> Framework | None:
    """The framework that a model's description names, such as "PyTorch 2.1.0 + MindSpeed".

    None for an empty one; OTHER for what is none of the three.
    """
    if not text.strip():
        return None
    return next((framework for framework, name in _NAMES if re.search(name, text.lower())),
                Framework.OTHER)
