"""What the items of a run's environment are called; in files and in the API the name stands."""

from django.utils.translation import gettext_lazy as _

WORDS = {
    "chip": _("Chip"), "cards": _("Cards"), "driver": _("Driver"), "firmware": _("Firmware"),
    "cann": "CANN", "cuda": "CUDA", "torch": "PyTorch", "torch_npu": "torch_npu",
    "tensorflow": "TensorFlow", "mindspore": "MindSpore",
    "python": "Python", "os": _("Operating system"), "arch": _("Architecture"), "gcc": "GCC",
    "framework": _("Framework"), "dtype": _("Data type"), "seed": _("Random seed"),
    "dataset": _("Data set"),
}


def item_label(name: str) -> str:
    """The item in the active language; one without words as it stands."""
    return str(WORDS.get(name.strip().lower(), name))
