"""Changed samples give no wrong figure without a word; benchmarks/reader_mutants.py tries more."""

import pytest

from benchmarks.reader_mutants import CHANGES, run


@pytest.mark.slow
def test_changed_samples_give_no_silent_wrong_figure():
    outcomes, wrong = run(150, seed=7)
    assert wrong == []
    assert {name.partition(":")[0] for name in outcomes} == {change.__name__ for change in CHANGES}
