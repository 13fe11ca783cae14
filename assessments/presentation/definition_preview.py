"""What a definition makes of a sample pair of curves (DOMAIN 3.4): nothing is stored."""

from array import array
from collections.abc import Callable
from decimal import Decimal
from math import exp, nan

from django.utils.translation import gettext_lazy as _

from toolreaders.columns import mean
from toolreaders.curves.alignment import Aligned, align
from toolreaders.training.series import LossSeries
from toolreaders.verdicts.verdict import Outcome, Rule, judge_curve

STEPS = 1000


def _pair(loss: Callable[[int], float], npu: Callable[[int, float], float]) -> Aligned:
    """Both curves: the baseline's loss by step, the NPU's by step and the baseline's loss."""
    steps = range(1, STEPS + 1)
    baseline = array("d", map(loss, steps))
    both = (baseline, array("d", map(npu, steps, baseline)))
    return align(*(LossSeries(array("q", steps), losses, 1, "point", 1) for losses in both))


def _falling(step: int) -> float:
    """A loss that falls from 7 towards 2 over the sample's thousand steps."""
    return 2 + 5 * exp(-step / 434)


def halves() -> Aligned:
    """3 % high for the first half, 3 % low for the second: definitions disagree.

    The halves differ by 0.004 %, so that the signed mean is 0.002 % and not exactly zero.
    """
    return _pair(_falling, lambda step, loss: loss * (1.03002 if step <= STEPS // 2 else 0.97002))


def spike() -> Aligned:
    """1 % high throughout, with one step 36 % off."""
    return _pair(_falling, lambda step, loss: loss * (1.36 if step == 641 else 1.01))


def warm_up() -> Aligned:
    """10 % high in the first 100 steps, then 1 %: the window decides."""
    return _pair(_falling, lambda step, loss: loss * (1.10 if step <= 100 else 1.01))


def near_zero() -> Aligned:
    """0.002 high while the loss falls to 0.001: relative errors grow without the guard ε."""
    return _pair(lambda step: 0.001 + 5 * exp(-step / 80), lambda _step, loss: loss + 0.002)


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
    relative = [(n - b) / abs(b) for b, n in zip(aligned.baseline, aligned.candidate, strict=True)]
    return abs(mean(relative)) if relative else nan


def tried(pair: str, threshold: Decimal, rule: Rule) -> tuple[Outcome, dict[str, float | None]]:
    """The verdict under the rule, and every figure in the rule's window."""
    aligned = PAIRS[pair][1]()
    outcome = judge_curve(aligned, threshold, rule)
    inside = aligned.window(rule.first_step, rule.last_step)
    figures = {**outcome.figures, "signed_mean": signed_mean(inside)}
    return outcome, figures
