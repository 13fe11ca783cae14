"""Several runs, one verdict: which of them counts (DOMAIN AR-09). Pure arithmetic."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from statistics import mean, median

from toolreaders.verdicts.verdict import FAILED, NOT_PROVABLE, PASSED, Outcome, Rule, compare

DECIDED = (PASSED, FAILED)
UNSIGNED, UNREVIEWED, BASELINE_UNSIGNED, AGREED_LATER = (
    "criteria_unsigned", "environment_unreviewed", "baseline_unsigned", "agreed_after_run")
AGENT_DECLARED = "agent_declared"
DOUBTS = (UNSIGNED, BASELINE_UNSIGNED, UNREVIEWED, AGREED_LATER, AGENT_DECLARED)


def judge_runs(outcomes: list[Outcome], selection: str, wanted: int, threshold: Decimal,
               rule: Rule) -> Outcome:
    """The verdict on the last runs, newest first, under a selection rule.

    `last` takes the newest run alone. The others ask for `wanted` runs; a run that is not finite
    fails, one that proves nothing proves nothing. Mean and median are taken exactly; the median of
    an even number of runs is the mean of the two in the middle.
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
    if selection in ("mean", "median"):
        exact = [o.exact if o.exact is not None else Fraction(Decimal(repr(o.figure)))
                 for o in outcomes]
        return _of_figure(mean(exact) if selection == "mean" else median(exact), outcomes[0],
                          threshold, rule)
    is_upper = rule.comparison in ("lt", "le")
    pick = max if is_upper == (selection == "worst") else min
    return outcomes[figures.index(pick(figures))]


def _of_figure(exact: Fraction, newest: Outcome, threshold: Decimal, rule: Rule) -> Outcome:
    is_met = compare(exact, threshold, rule.comparison)
    return replace(newest, outcome=PASSED if is_met else FAILED, figure=float(exact),
                   exact=exact, reason="threshold_met" if is_met else "threshold_missed")


def withheld(outcome: Outcome, doubt: str | None) -> Outcome:
    """What the arithmetic decides does not count while a signature or a review is lacking.

    A run that is not finite stays failed, and one that misses a threshold that was agreed later.
    What an agent declares is no evidence of anything, of that neither.
    """
    if doubt == AGREED_LATER and outcome.outcome != PASSED:
        return outcome
    if doubt is None or outcome.outcome not in DECIDED or (
            outcome.reason == "nonfinite" and doubt != AGENT_DECLARED):
        return outcome
    return replace(outcome, outcome=NOT_PROVABLE, reason=doubt)
