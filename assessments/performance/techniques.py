"""Techniques of tuning, and the settings a round records of them (seed S3, 2 to 5).

The seed's own interfaces (amc_config.json, qat_config.yaml, ascend_context.ini,
optimize_communication) have no public counterpart (DOMAIN 8.2): what was configured is recorded as
its file prints it, nothing is generated of it.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.translation import gettext as _

from assessments.models import OptimisationRound
from engagements.errors import InvalidInput
from engagements.text.text_joining import listed

Technique = OptimisationRound.Technique
Settings = Mapping[str, Any]
ON_OFF = ("on", "off", "enable", "disable", "true", "false")
LONGEST = 200


@dataclass(frozen=True)
class Setting:
    """One setting, by its dotted path in the file: a choice, a text, or a number between two
    bounds, both inclusive; `unit` of it."""

    name: str
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 0
    unit: str = ""
    is_whole: bool = False

    def read(self, value: Any) -> str | int | float | bool:
        """The typed value. Raises ValueError with what is possible."""
        text = str(value).strip()
        if self.choices:
            if text.lower() not in self.choices:
                raise ValueError(listed(self.choices))
            return value if isinstance(value, bool) else text.lower()
        if not self.most:
            if not 0 < len(text) <= LONGEST:
                raise ValueError(f"1–{LONGEST}")
            return value if isinstance(value, bool | int | float) else text
        bounds = f"{self.least}–{self.most} {self.unit}".strip()
        try:
            number = Decimal(text)
        except InvalidOperation:
            raise ValueError(bounds) from None
        if not number.is_finite() or not self.least <= number <= self.most or (
                self.is_whole and number != number.to_integral_value()):
            raise ValueError(bounds)
        return int(number) if self.is_whole else float(number)


def _whole(name: str, least: int, most: int, unit: str = "") -> Setting:
    return Setting(name, least=least, most=most, unit=unit, is_whole=True)


METHODS = ("topk", "randomk", "quantised")
SETTINGS: Mapping[str, tuple[Setting, ...]] = {
    Technique.PARALLEL: (
        *(_whole(f"{name}_parallel", 1, 100_000) for name in (
            "data", "model", "pipeline", "context", "expert", "sequence")),
        Setting("tensor_parallel_mode", ("row_split", "column_split")),
        _whole("micro_batch_num", 1, 100_000)),
    Technique.ADAPTIVE_MEMORY: (
        Setting("memory_reuse", ("auto", *ON_OFF)), Setting("fragment_optimize", ON_OFF),
        Setting("tensor_slice", ON_OFF), Setting("tensor_slice.enable", ON_OFF),
        _whole("slice_dim", 0, 15), _whole("tensor_slice.slice_dim", 0, 15)),
    Technique.TIERED_MEMORY: (
        _whole("hbm_reserved_mb", 1, 1_048_576, "MB"),
        _whole("HBM.reserved_size", 1, 1_048_576, "MB"),
        Setting("ddr_priority", ("low", "normal", "high")),
        Setting("DDR.priority", ("low", "normal", "high")),
        _whole("hot_tensors", 0, 1_000_000)),
    Technique.COMPUTE: (
        Setting("operator"), Setting("replaces"), Setting("soc_version"),
        Setting("implementation", ("ascend_c", "tbe", "ai_cpu", "library"))),
    Technique.COMPRESSION: (
        Setting("method", METHODS), Setting("compression", METHODS),
        Setting("ratio", least=0, most=1), Setting("topk_ratio", least=0, most=1),
        Setting("overlap_compute", ON_OFF), Setting("COMMUNICATION.overlap_compute", ON_OFF)),
    Technique.COMPILATION: (
        Setting("graph_op_shrink", ON_OFF), Setting("fusion_switch_file"), Setting("soc_version"),
        Setting("enable_graph_kernel", ON_OFF), Setting("graph_kernel_flags"),
        Setting("jit_level", ("o0", "o1", "o2")), Setting("jit_compile", ON_OFF)),
    Technique.QUANTISATION: tuple(
        Setting(f"{before}{row.name}", row.choices, row.least, row.most, row.unit, row.is_whole)
        for before in ("", "quantization.") for row in (
            Setting("enable", ON_OFF), _whole("bit_num", 2, 16),
            _whole("quant_delay", 0, 1_000_000_000, "steps"), Setting("per_channel", ON_OFF),
            Setting("bn_fold", ON_OFF))),
}


def leaves(given: Settings, before: str = "") -> Iterator[tuple[str, Any]]:
    """(dotted name, value) of nested settings, in their order."""
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def changed(before: Settings, after: Settings) -> list[tuple[str, Any, Any]]:
    """(name, value before, value after) of every setting of either; None where it was not set."""
    old, new = dict(leaves(before)), dict(leaves(after))
    return [(name, old.get(name), new.get(name)) for name in {**new, **old}]


def typed_settings(technique: str, given: Settings) -> dict[str, Any]:
    """The settings of a technique as they are stored: nested as given, every value typed.

    Raises InvalidInput for an unknown technique or setting, a value out of its range, settings
    without a technique, and a technique without any.
    """
    if not technique:
        if given:
            raise InvalidInput(_("Name the technique that these settings belong to."))
        return {}
    if technique not in Technique.values:
        raise InvalidInput(_("Unknown technique: %(name)s.") % {"name": technique})
    known = {setting.name: setting for setting in SETTINGS[technique]}
    found = dict(leaves(given))
    if unknown := sorted(set(found) - set(known)):
        raise InvalidInput(_("%(technique)s has no setting %(names)s; it has %(known)s.") % {
            "technique": Technique(technique).label, "names": listed(unknown),
            "known": listed(known)})
    if not found:
        raise InvalidInput(_("State at least one setting of the technique: %(known)s.") % {
            "known": listed(known)})
    return _typed(known, given)


def _typed(known: Mapping[str, Setting], given: Settings, before: str = "") -> dict[str, Any]:
    return {name: _typed(known, value, f"{before}{name}.") if isinstance(value, Mapping)
            else _read(known[f"{before}{name}"], value) for name, value in given.items()}


def _read(setting: Setting, value: Any) -> str | int | float | bool:
    try:
        return setting.read(value)
    except ValueError as error:
        raise InvalidInput(_("%(name)s = %(value)s: allowed range: %(range)s.") % {
            "name": setting.name, "value": str(value)[:LONGEST] or "–", "range": error}) from None


COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|(?:#|//)[^\n]*|/\*.*?\*/', re.DOTALL)
LINE = re.compile(r"( *)(?:\[(?P<section>[^\]]+)\]|"
                  r"(?P<name>[^=:\[\]{}]+?) *[=:] *(?P<value>.*?),?)$")
LITERALS = {"true": True, "false": False}


def settings_in(text: str) -> dict[str, Any]:
    """Settings of a text as files print them: a JSON object, sections of an .ini, nested names of
    YAML, or one `name = value` a line; comments after # or // are left out.

    Raises InvalidInput for other lines, and for JSON that is none.
    """
    bare = COMMENT.sub(lambda found: found[1] or "", text)
    if bare.lstrip().startswith("{"):
        try:
            return dict(json.loads(re.sub(r",(\s*[}\]])", r"\1", bare)))
        except (ValueError, RecursionError) as error:
            raise InvalidInput(_("The JSON is damaged: %(error)s.") % {"error": error}) from None
    whole: dict[str, Any] = {}
    section, open_at = whole, [(-1, whole)]
    for line in filter(str.strip, bare.expandtabs().splitlines()):
        found = LINE.match(line.rstrip())
        if not found:
            raise InvalidInput(_("“%(line)s” is not written as name = value.") % {
                "line": line.strip()})
        if found["section"]:
            section = whole.setdefault(found["section"].strip(), {})
            open_at = [(-1, section)]
            continue
        depth, name = len(found[1]), found["name"].strip().strip("\"'")
        while open_at[-1][0] >= depth:
            open_at.pop()
        if found["value"]:
            value = found["value"].strip().strip("\"'")
            open_at[-1][1][name] = LITERALS.get(value.lower(), value)
        else:
            open_at.append((depth, open_at[-1][1].setdefault(name, {})))
    return whole


def names_of_settings() -> Iterable[str]:
    """A line per technique with the names of its settings, for help on a form."""
    return [f"{Technique(technique).label}: {', '.join(setting.name for setting in found)}"
            for technique, found in SETTINGS.items()]
