"""What a standard metric definition declares (DOMAIN 3.4)."""

from dataclasses import asdict, dataclass
from typing import Any

from toolreaders.verdicts.verdict import RULE_FIELDS, Rule

Text = tuple[str, str]  # Chinese, English


@dataclass(frozen=True)
class Definition:
    """One definition of the library; it is stored as it stands here.

    Args:
        calculator: loss_curve, or how a value is computed (see `judge_values`).
        quantity: what of a file is judged (see `quantities`).
        comparison: lt, le, gt or ge, of the unrounded figure with the threshold.
        unit: of the figure; "%" and "pp" figures are fractions.
        alignment: what both runs have in common.
        figure: the judged one of a curve's figures (see `curve_figures`).
        epsilon: least divisor of a relative error.
        first_step, last_step: the window, both inclusive; None leaves a side open.
        source: whose definition it is, with the threshold that is usual there.
        correction: why it differs from what an earlier release stored under its code; there it is
            added as the next version.
    """

    code: str
    calculator: str
    quantity: str
    comparison: str
    unit: str
    name: Text
    formula: Text
    source: str
    alignment: Text = ("", "")
    figure: str = "figure"
    epsilon: float = 0.0
    first_step: int | None = None
    last_step: int | None = None
    minimum_coverage: float = 0.95
    minimum_points: int = 1
    correction: str = ""

    @property
    def is_curve(self) -> bool:
        return self.calculator == "loss_curve"

    def rule(self) -> Rule:
        """The arithmetic that it asks for."""
        return Rule(**{name: getattr(self, name) for name in RULE_FIELDS})

    def stored(self) -> dict[str, Any]:
        """The fields of its row, texts by language."""
        entry = asdict(self)
        del entry["correction"]
        for text in ("name", "formula", "alignment"):
            entry[text], entry[f"{text}_en"] = entry[text]
        return entry
