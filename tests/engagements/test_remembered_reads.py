"""Answers are remembered while something is only read, and not after."""

from engagements.remembered_reads import reading_once, remembered

asked = []


@remembered
def doubled(number: int) -> int:
    asked.append(number)
    return 2 * number


def test_the_same_is_asked_once_within_a_block_and_anew_outside():
    asked.clear()
    with reading_once():
        assert [doubled(2), doubled(3), doubled(2)] == [4, 6, 4]
        with reading_once():
            assert doubled(3) == 6
        assert doubled(2) == 4
    assert asked == [2, 3]
    assert [doubled(2), doubled(2)] == [4, 4]
    assert asked == [2, 3, 2, 2]
