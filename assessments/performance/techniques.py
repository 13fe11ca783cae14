"""Techniques of memory and communication, and the settings a round records (seed S3, 3 and 4).

The seed's own interfaces (amc_config.json, ascend_context.ini, optimize_communication) have no
public counterpart (DOMAIN 8.2): what was configured is recorded, and nothing is generated of it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.translation import gettext as _

from assessments.models import OptimisationRound
from engagements.errors import InvalidInput
from engagements.text.text_joining import listed

Technique = OptimisationRound.Technique
ON_OFF = ("on", "off")


@dataclass(frozen=True)
class Setting:
    """One setting: a choice, or a number between two bounds, both inclusive; `unit` of it."""

    name: str
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 0
    unit: str = ""
    is_whole: bool = False

    def read(self, text: str) -> str | int | float:
        """The typed value. Raises ValueError with what is possible."""
        if self.choices:
            if text.lower() not in self.choices:
                raise ValueError(listed(self.choices))
            return text.lower()
        bounds = f"{self.least}–{self.most} {self.unit}".strip()
        try:
            number = Decimal(text)
        except InvalidOperation:
            raise ValueError(bounds) from None
        if not number.is_finite() or not self.least <= number <= self.most or (
                self.is_whole and number != number.to_integral_value()):
            raise ValueError(bounds)
        return int(number) if self.is_whole else float(number)


SETTINGS: Mapping[str, tuple[Setting, ...]] = {
    Technique.ADAPTIVE_MEMORY: (
        Setting("memory_reuse", ("auto", *ON_OFF)), Setting("fragment_optimize", ON_OFF),
        Setting("tensor_slice", ON_OFF), Setting("slice_dim", most=15, is_whole=True)),
    Technique.TIERED_MEMORY: (
        Setting("hbm_reserved_mb", least=1, most=1_048_576, unit="MB", is_whole=True),
        Setting("ddr_priority", ("low", "normal", "high")),
        Setting("hot_tensors", most=1_000_000, is_whole=True)),
    Technique.COMPRESSION: (
        Setting("method", ("topk", "randomk", "quantised")),
        Setting("ratio", least=0, most=1), Setting("overlap_compute", ON_OFF)),
}


def typed_settings(technique: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a technique as they are stored.

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
    if unknown := sorted(set(given) - set(known)):
        raise InvalidInput(_("%(technique)s has no setting %(names)s; it has %(known)s.") % {
            "technique": Technique(technique).label, "names": listed(unknown),
            "known": listed(known)})
    if not given:
        raise InvalidInput(_("State at least one setting of the technique: %(known)s.") % {
            "known": listed(known)})
    return {name: _read(known[name], str(value).strip()) for name, value in given.items()}


def _read(setting: Setting, text: str) -> str | int | float:
    try:
        return setting.read(text)
    except ValueError as error:
        raise InvalidInput(_("%(name)s = %(value)s: allowed range: %(range)s.") % {
            "name": setting.name, "value": text or "–", "range": error}) from None


def settings_in(text: str) -> dict[str, str]:
    """Settings of a text with one `name = value` a line. Raises InvalidInput for other lines."""
    pairs = [line.partition("=") for line in text.splitlines() if line.strip()]
    if wrong := next((name.strip() for name, sign, _value in pairs if not sign), ""):
        raise InvalidInput(_("“%(line)s” is not written as name = value.") % {"line": wrong})
    return {name.strip(): value.strip() for name, _sign, value in pairs}


def names_of_settings() -> Iterable[str]:
    """A line per technique with the names of its settings, for help on a form."""
    return [f"{Technique(technique).label}: {', '.join(setting.name for setting in found)}"
            for technique, found in SETTINGS.items()]
