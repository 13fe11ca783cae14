"""What the software of a node is called on pages and documents."""

from django.utils.translation import gettext_lazy as _

SOFTWARE = {
    "os": _("Operating system"), "arch": _("Architecture"), "driver": _("Driver"),
    "firmware": _("Firmware"), "cann": "CANN", "torch": "PyTorch", "torch_npu": "torch_npu",
    "mindspore": "MindSpore", "tensorflow": "TensorFlow", "python": "Python", "gcc": "GCC",
}  # in the order in which it is shown


def named(versions: dict[str, str]) -> list[tuple[str, str, str]]:
    """(code, name, version) in a fixed order; what has no name stands last, as it was read."""
    known = [(code, str(name), versions[code]) for code, name in SOFTWARE.items()
             if versions.get(code)]
    return [*known, *((code, code, version) for code, version in versions.items()
                      if code not in SOFTWARE and version)]
