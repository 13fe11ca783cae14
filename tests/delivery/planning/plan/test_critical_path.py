"""The critical path as arithmetic, checked against what it means."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delivery.planning.plan.critical_path import Activity, Cycle, Link, compute, length
from delivery.planning.plan.working_days import WorkingCalendar, is_working_day


@st.composite
def networks(draw):
    """Activities with links from lower to higher numbers: never a circle."""
    count = draw(st.integers(1, 8))
    activities = [Activity(n, draw(st.integers(0, 9)), draw(st.integers(0, 5)))
                  for n in range(count)]
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    chosen = draw(st.sets(st.sampled_from(pairs), max_size=12)) if pairs else set()
    return activities, [Link(a, b, draw(st.integers(0, 4))) for a, b in sorted(chosen)]


def longest_from(key, found, links):
    """Days from the start of `key` to the end of the longest chain behind it, by brute force."""
    behind = [link.lag + longest_from(link.after, found, links)
              for link in links if link.before == key]
    return found[key].days + max(behind, default=0)


@given(networks())
def test_length_is_that_of_the_longest_path(network):
    activities, links = network
    found = {a.key: a for a in activities}
    expected = max(a.earliest + longest_from(a.key, found, links) for a in activities)
    assert length(compute(activities, links)) == expected


@given(networks())
def test_dates_keep_every_link_early_and_late(network):
    activities, links = network
    dates = compute(activities, links)
    for link in links:
        before, after = dates[link.before], dates[link.after]
        assert after.early_start >= before.early_finish + link.lag
        assert after.late_start >= before.late_finish + link.lag
    for activity in activities:
        entry = dates[activity.key]
        assert entry.early_start >= activity.earliest
        assert entry.early_finish - entry.early_start == activity.days
        assert entry.late_finish - entry.late_start == activity.days
        assert entry.slack >= 0


@given(networks())
def test_critical_activities_make_the_end_late_and_others_do_not(network):
    activities, links = network
    dates = compute(activities, links)
    end = length(dates)
    for n, activity in enumerate(activities):
        slack = dates[activity.key].slack
        for more, moves in ((slack, False), (slack + 1, True)):
            longer = [*activities]
            longer[n] = Activity(activity.key, activity.days + more, activity.earliest)
            assert (length(compute(longer, links)) > end) == moves


@given(networks(), st.data())
def test_a_circle_is_refused_and_named(network, data):
    activities, links = network
    key = data.draw(st.sampled_from([a.key for a in activities]))
    with pytest.raises(Cycle) as caught:
        compute([*activities, Activity("x", 1)], [*links, Link(key, "x"), Link("x", key)])
    assert caught.value.keys[0] == caught.value.keys[-1]
    assert {key, "x"} == set(caught.value.keys)


def test_what_happened_is_not_moved_by_links():
    dates = compute([Activity("a", 5), Activity("b", 2, earliest=1, is_fixed=True)],
                    [Link("a", "b")])
    assert (dates["b"].early_start, dates["b"].early_finish) == (1, 3)


@pytest.mark.parametrize(("day", "works"), [
    (date(2025, 1, 26), True),    # Sunday, made up for the Spring Festival
    (date(2025, 1, 28), False),   # eve of the Spring Festival
    (date(2025, 10, 1), False), (date(2025, 10, 8), False), (date(2025, 10, 9), True),
    (date(2025, 10, 11), True),   # Saturday, made up for the National Day
    (date(2025, 10, 12), False)])
def test_china_s_calendar(day, works):
    assert is_working_day(day, {}) == works


@given(st.dates(date(2024, 1, 1), date(2026, 12, 31)), st.integers(0, 300))
def test_numbers_and_days_are_each_other_s_inverse(start, number):
    calendar = WorkingCalendar(start, {})
    day = calendar.day(number)
    assert is_working_day(day, {})
    assert calendar.number(day) == number
    between = [start + timedelta(days=n) for n in range((day - start).days)]
    assert sum(is_working_day(one, {}) for one in between) == number


def test_golden_week_is_not_worked():
    calendar = WorkingCalendar(date(2025, 9, 29), {})
    assert [calendar.day(n) for n in range(4)] == [
        date(2025, 9, 29), date(2025, 9, 30), date(2025, 10, 9), date(2025, 10, 10)]
    assert calendar.last_day(1, 3) == date(2025, 10, 9)
