"""What the items of a run's environment are called; in files and in the API the name stands."""

import re

from django.utils.translation import gettext_lazy as _

from workers.labels.software_names import SOFTWARE

WORDS = {
    "platform": _("Platform of"),
    "chip": _("Chip"), "cards": _("Cards"),
    **{item: SOFTWARE[item] for item in ("driver", "firmware", "cann")}, "cuda": "CUDA",
    **{item: SOFTWARE[item] for item in ("torch", "torch_npu", "tensorflow", "mindspore",
                                         "python", "os", "arch", "gcc")},
    "framework": _("Framework"), "dtype": _("Data type"), "parallel": _("Parallel sizes"),
    "seed": _("Random seed"), "dataset": _("Data set"),
    "agreed_after_run": _("Order in time: criterion frozen, run begun"),
}  # in the order in which they are shown


# How people and tools write the same items.
OTHER_NAMES = {
    "pytorch": "torch", "tf": "tensorflow", "ascend_cann": "cann", "gpu": "chip", "npu": "chip",
    "gpus": "cards", "npus": "cards", "number_of_cards": "cards", "precision": "dtype",
    "data_type": "dtype", "parallelism": "parallel", "parallel_sizes": "parallel",
    "parallel_strategy": "parallel", "并行": "parallel", "并行策略": "parallel",
    "random_seed": "seed", "seeds": "seed", "data_set": "dataset",
    "operating_system": "os", "architecture": "arch", "驱动": "driver", "固件": "firmware",
    "芯片": "chip", "卡数": "cards", "框架": "framework", "精度": "dtype", "数据类型": "dtype",
    "随机种子": "seed", "数据集": "dataset", "操作系统": "os"}


def item_name(name: str) -> str:
    """The one name of an item, as it is compared and listed."""
    plain = re.sub(r"[\s-]+", "_", str(name).strip().lower())[:80]
    plain = plain.removesuffix("_version").removesuffix("版本")
    return OTHER_NAMES.get(plain, plain)


def item_label(name: str) -> str:
    """The item in the active language; one without words as it stands."""
    return str(WORDS.get(item_name(name), name))
