"""Which of several runs counts."""

from decimal import Decimal
from fractions import Fraction

import pytest

from toolreaders.verdicts.selection import (
    AGENT_DECLARED,
    AGREED_LATER,
    DOUBTS,
    judge_runs,
    withheld,
)
from toolreaders.verdicts.verdict import FAILED, NOT_MEASURED, NOT_PROVABLE, PASSED, Outcome, Rule

LIMIT = Decimal("0.02")


def run(figure, outcome=PASSED, exact=None, **facts):
    reason = "threshold_met" if outcome == PASSED else "threshold_missed"
    return Outcome(outcome, figure, reason, facts=facts, exact=exact)


NEWEST_FIRST = [run(0.02), run(0.01), run(0.03, FAILED)]


@pytest.mark.parametrize(("selection", "comparison", "figure"), [
    ("last", "lt", 0.02), ("worst", "lt", 0.03), ("worst", "le", 0.03), ("best", "lt", 0.01),
    ("best", "le", 0.01), ("worst", "gt", 0.01), ("worst", "ge", 0.01), ("best", "gt", 0.03),
    ("best", "ge", 0.03)])
def test_the_run_that_the_rule_names(selection, comparison, figure):
    found = judge_runs(NEWEST_FIRST, selection, 3, LIMIT, Rule(comparison=comparison))
    assert found == next(o for o in NEWEST_FIRST if o.figure == figure)


@pytest.mark.parametrize("selection", ["mean", "worst", "best"])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_as_many_runs_as_wanted_are_enough(selection, count):
    runs = [run(0.01, points=5), *[run(0.015, points=6)] * 3][:count]
    found = judge_runs(runs, selection, 3, LIMIT, Rule())
    if count >= 3:
        assert (found.outcome, found.reason) == (PASSED, "threshold_met")
    else:
        assert (found.outcome, found.reason, found.figure, found.facts) == (
            NOT_PROVABLE, "too_few_runs", 0.01,
            {"points": 5, "runs_judged": count, "runs_wanted": 3})


@pytest.mark.parametrize(("others", "reason"), [
    ([Outcome(NOT_PROVABLE, None, "a"), Outcome(NOT_MEASURED, None, "b")], "a"),
    ([Outcome(NOT_PROVABLE, None, "a"), Outcome(FAILED, None, "nonfinite")], "nonfinite"),
    ([Outcome(NOT_PROVABLE, 0.5, "a")], "a"), ([Outcome(FAILED, None, "nonfinite")], "nonfinite")])
def test_a_run_without_a_decision_decides(others, reason):
    found = judge_runs([run(0.01), *others], "mean", 2, LIMIT, Rule())
    assert found.reason == reason


@pytest.mark.parametrize(("comparison", "second", "expected"), [
    ("lt", 0.03, (FAILED, 0.02, "threshold_missed")), ("le", 0.03, (PASSED, 0.02, "threshold_met")),
    ("lt", 0.02, (PASSED, 0.015, "threshold_met")), ("gt", 0.02, (FAILED, 0.015,
                                                                  "threshold_missed"))])
def test_the_mean_is_judged_itself(comparison, second, expected):
    runs = [run(0.01, note="newest"), run(second, FAILED)]
    found = judge_runs(runs, "mean", 2, LIMIT, Rule(comparison=comparison))
    assert (found.outcome, found.figure, found.reason) == expected
    assert found.facts == {"note": "newest"}


def test_the_mean_takes_exact_figures_where_they_are_known():
    runs = [run(0.3333, exact=Fraction(1, 3)), run(0.25)]
    assert judge_runs(runs, "mean", 2, LIMIT, Rule()).exact == Fraction(7, 24)


@pytest.mark.parametrize("doubt", DOUBTS)
def test_a_doubt_withholds_what_the_arithmetic_decides(doubt):
    for decided in (run(0.01), run(0.03, FAILED)):
        found = withheld(decided, doubt)
        if doubt == AGREED_LATER and decided.outcome == FAILED:
            assert found == decided
            continue
        assert (found.outcome, found.reason, found.figure) == (NOT_PROVABLE, doubt, decided.figure)
        assert withheld(decided, None) == decided
    for outcome in (Outcome(NOT_MEASURED, None, "no_measurement"),
                    Outcome(NOT_PROVABLE, None, "no_baseline")):
        assert withheld(outcome, doubt) == outcome
    nonfinite = Outcome(FAILED, None, "nonfinite")
    is_word_of_an_agent = doubt == AGENT_DECLARED
    assert (withheld(nonfinite, doubt) == nonfinite) is not is_word_of_an_agent
