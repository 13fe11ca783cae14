"""Several runs, one verdict: which of them counts (DOMAIN AR-09). Pure arithmetic."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from toolreaders.verdicts.verdict import FAILED, NOT_PROVABLE, PASSED, Outcome, Rule, compare

DECIDED = (PASSED, FAILED)
UNSIGNED, UNREVIEWED, BASELINE_UNSIGNED = (
    "criteria_unsigned", "environment_unreviewed", "baseline_unsigned")
DOUBTS = (UNSIGNED, BASELINE_UNSIGNED, UNREVIEWED)


def judge_runs(outcomes: list[Outcome], selection: str, wanted: int, threshold: Decimal,
               rule: Rule) -> Outcome:
    """The verdict on the last runs, newest first, under a selection rule.

    `last` takes the newest run alone. The others ask for `wanted` runs; a run that is not finite
    fails, one that proves nothing proves nothing. The mean is taken exactly.
    """
    if selection == "last":
        return outcomes[0]
    figures = [outcome.figure for outcome in outcomes]
    if len(outcomes) < wanted:
        facts = {**outcomes[0].facts, "runs_judged": len(outcomes), "runs_wanted": wanted}
        return replace(outcomes[0], outcome=NOT_PROVABLE, reason="too_few_runs", facts=facts)
    undecided = [o for o in outcomes if o.outcome not in DECIDED or o.figure is None]
    if undecided:
        return next((o for o in undecided if o.outcome == FAILED), undecided[0])
    if selection == "mean":
        return _of_mean(outcomes, threshold, rule)
    is_upper = rule.comparison in ("lt", "le")
    pick = max if is_upper == (selection == "worst") else min
    return outcomes[figures.index(pick(figures))]


def _of_mean(outcomes: list[Outcome], threshold: Decimal, rule: Rule) -> Outcome:
    exact = [o.exact if o.exact is not None else Fraction(Decimal(repr(o.figure)))
             for o in outcomes]
    mean = sum(exact, Fraction(0)) / len(exact)
    is_met = compare(mean, threshold, rule.comparison)
    return replace(outcomes[0], outcome=PASSED if is_met else FAILED, figure=float(mean),
                   exact=mean, reason="threshold_met" if is_met else "threshold_missed")


def withheld(outcome: Outcome, doubt: str | None) -> Outcome:
    """What the arithmetic decides does not count while a signature or a review is lacking.

    A run that is not finite stays failed.
    """
    if doubt is None or outcome.outcome not in DECIDED or outcome.reason == "nonfinite":
        return outcome
    return replace(outcome, outcome=NOT_PROVABLE, reason=doubt)
