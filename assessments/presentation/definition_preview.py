"""What a definition makes of a sample pair of curves (DOMAIN 3.4): nothing is stored."""

from decimal import Decimal

import numpy as np
from django.utils.translation import gettext_lazy as _

from toolreaders.curves.alignment import Aligned, align
from toolreaders.training.series import LossSeries
from toolreaders.verdicts.verdict import Outcome, Rule, judge_curve

STEPS = 1000


def _series(losses: np.ndarray) -> LossSeries:
    return LossSeries(np.arange(1, len(losses) + 1), losses, 1, "point", 1)


def _falling() -> np.ndarray:
    """A loss that falls from 7 towards 2 over the sample's thousand steps."""
    return 2 + 5 * np.exp(-np.arange(1, STEPS + 1) / 434)


def halves() -> Aligned:
    """3 % high for the first half, 3 % low for the second: definitions disagree.

    The halves differ by 0.004 %, so that the signed mean is 0.002 % and not exactly zero.
    """
    losses = _falling()
    factor = np.where(np.arange(STEPS) < STEPS // 2, 1.03002, 0.97002)
    return align(_series(losses), _series(losses * factor))


def spike() -> Aligned:
    """1 % high throughout, with one step 36 % off."""
    losses = _falling()
    factor = np.full(STEPS, 1.01)
    factor[640] = 1.36
    return align(_series(losses), _series(losses * factor))


def warm_up() -> Aligned:
    """10 % high in the first 100 steps, then 1 %: the window decides."""
    losses = _falling()
    factor = np.where(np.arange(STEPS) < 100, 1.10, 1.01)
    return align(_series(losses), _series(losses * factor))


def near_zero() -> Aligned:
    """0.002 high while the loss falls to 0.001: relative errors grow without the guard ε."""
    losses = 0.001 + 5 * np.exp(-np.arange(1, STEPS + 1) / 80)
    return align(_series(losses), _series(losses + 0.002))


PAIRS = {"halves": (_("3 per cent high, then 3 per cent low"), halves),
         "spike": (_("1 per cent high with one spike"), spike),
         "warm_up": (_("10 per cent high while warming up, then 1 per cent"), warm_up),
         "near_zero": (_("0.002 high, the loss falls towards zero"), near_zero)}
FIGURES = [
    ("mean_relative_error", _("Mean relative error")),
    ("mean_relative_error_from_step_21", _("Mean relative error from step 21")),
    ("relative_error_of_means", _("Relative error of the mean losses")),
    ("max_relative_error", _("Maximum relative error of any step")),
    ("relative_error_first_step", _("Relative error of the first loss")),
    ("relative_error_last_100", _("Relative error of the mean of the last 100 losses")),
    ("mean_relative_error_epsilon_added", _("Mean relative error, ε added to the divisor")),
    ("signed_mean", _("Signed mean of the relative errors")),
]


def signed_mean(aligned: Aligned) -> float:
    """Errors of opposite sign cancel: shown as a warning example, never judged in a contract."""
    relative = (aligned.candidate - aligned.baseline) / np.abs(aligned.baseline)
    return float(abs(relative.mean())) if len(relative) else float("nan")


def tried(pair: str, threshold: Decimal, rule: Rule) -> tuple[Outcome, dict[str, float | None]]:
    """The verdict under the rule, and every figure in the rule's window."""
    aligned = PAIRS[pair][1]()
    outcome = judge_curve(aligned, threshold, rule)
    inside = aligned.window(rule.first_step, rule.last_step)
    figures = {**outcome.figures, "signed_mean": signed_mean(inside)}
    return outcome, figures
