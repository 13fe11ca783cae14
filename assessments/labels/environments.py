"""What the items of a run's environment are called; in files and in the API the name stands."""

from django.utils.translation import gettext_lazy as _

from workers.labels.software_names import SOFTWARE

WORDS = {
    "platform": _("Platform of"),
    "chip": _("Chip"), "cards": _("Cards"),
    **{item: SOFTWARE[item] for item in ("driver", "firmware", "cann")}, "cuda": "CUDA",
    **{item: SOFTWARE[item] for item in ("torch", "torch_npu", "tensorflow", "mindspore",
                                         "python", "os", "arch", "gcc")},
    "framework": _("Framework"), "dtype": _("Data type"), "seed": _("Random seed"),
    "dataset": _("Data set"),
}  # in the order in which they are shown


def item_label(name: str) -> str:
    """The item in the active language; one without words as it stands."""
    return str(WORDS.get(name.strip().lower(), name))
