"""How a value of a reading is named and written on pages: words, units, few digits."""

from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from engagements.templatetags.display import size
from engagements.text.text_joining import in_turn, labelled, listed
from workers.labels.number_text import figure_text
from workers.labels.value_names import NAMES

UNITS = {"ms": "ms", "us": "µs", "s": "s", "kb": "KB", "mb": "MB", "percent": "%", "w": "W",
         "c": "°C"}
LOGGED_DIGITS = 7  # as training tools print a loss: 2.482585E+00
NAMED_BY_THE_FILE = frozenset({
    "apis", "classes", "dtypes", "environment", "files", "hyperparameters", "items", "matrix",
    "metrics", "n_shot", "operations", "packages", "passes", "peaks", "repository", "samples",
    "schemes", "settings", "statistics", "tables", "tool_verdicts"})
WORDED = frozenset({"level", "meaning", "mode", "role", "scale", "step_unit", "tool_verdict"})
WORDS = {
    "point": _("value of the step"), "mean": _("mean since the last record"),
    "statistics": _("statistics of tensors"), "tensor": _("whole tensors"), "md5": _("checksums"),
    "input": _("input"), "output": _("output"), "parameters": _("parameters"),
    "parameters_grad": _("gradients of parameters"), "forward": _("forward"),
    "backward": _("backward"), "error": _("error"), "warning": _("warning"), "pass": _("pass"),
    "step": _("a step"), "epoch": _("epoch"), "sample": _("sample"), "fraction": _("fraction"),
    "percent": _("per cent"),
    "iterations": _("iterations"), "samples": _("samples"), "tokens": _("tokens"),
}


def path_words(path: tuple[str, ...]) -> str:
    """`("loss", "mean")` as “loss · mean”; names that come from the file stand as they are."""
    above = ("", *path)
    return " · ".join(key if parent in NAMED_BY_THE_FILE else key_words(key)
                      for parent, key in zip(above, path, strict=False))


def key_words(key: str) -> str:
    """A key in the active language with the unit it ends with; an unknown one as it stands."""
    if key in NAMES:
        return str(NAMES[key])
    name, _underscore, end = key.rpartition("_")
    if not name:
        return key
    words = str(NAMES.get(name, name))
    if end == "share":
        return f"{words} · {NAMES['share']}"
    if end == "bytes":
        return words
    return f"{words} ({UNITS[end]})" if end in UNITS else key


def word(value: str) -> str:
    """One of the desk's own words in the active language; another one as it stands."""
    return str(WORDS.get(value, value))


def value_text(value: Any, key: str) -> str:
    """A value as text; `key` tells its unit and whether it is one of the desk's own words."""
    if value in (None, "", []):
        return "--"
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, int | float):
        return _number_text(value, key)
    if isinstance(value, dict):
        return in_turn(
            labelled(name if key in NAMED_BY_THE_FILE else key_words(name), value_text(one, name))
            for name, one in value.items())
    if isinstance(value, list):
        return listed(value_text(one, key) for one in value)
    return word(value) if key in WORDED else str(value)


def _number_text(value: float, key: str) -> str:
    if key.endswith("_bytes"):
        return size(value)
    if key.endswith("share"):
        return f"{figure_text(100 * value, 5)} %"
    return str(value) if isinstance(value, int) else figure_text(value, LOGGED_DIGITS)
