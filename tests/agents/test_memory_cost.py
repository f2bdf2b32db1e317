"""Fresh runs cost the same each time; continued ones more and more, up to a bound."""

from itertools import pairwise

from tests.agents.memory_cost import CAP, runs, table


def test_fresh_is_level_and_continued_grows_and_stays_bounded() -> None:
    fresh, continued = runs(continued=False), runs(continued=True)
    assert len({line.spent for line in fresh[1:]}) <= 2  # a figure more in a run's number
    assert max(line.read for line in fresh) - min(line.read for line in fresh) < 20
    assert all(line.earlier == 0 for line in fresh)

    grown = [line.read for line in continued]
    fall = next(place for place, line in enumerate(continued) if line.left_out)
    assert fall >= 5
    assert grown[:fall] == sorted(set(grown[:fall])), "each run reads more than the one before it"
    assert grown[fall] < grown[fall - 1]
    assert max(grown) == grown[fall - 1], "and never more than at the bound"
    assert continued[1].spent > fresh[1].spent
    for line in fresh + continued:
        assert line.spent <= CAP
        assert abs(line.spent - line.billed) <= 3, "each request rounds up to a micro-dollar"


def test_what_is_kept_comes_from_the_cache_and_is_paid_as_such() -> None:
    continued = runs(continued=True, count=4)
    for before, line in pairwise(continued[1:]):
        added = line.read - before.read
        assert line.cached - before.cached > 0.8 * added
        uncached_rate, cached_rate = 3_000_000, 300_000
        as_if_none_were = line.cached * (uncached_rate - cached_rate) // 1_000_000
        assert line.spent + as_if_none_were > 2 * line.spent


def test_the_table_has_a_line_for_each_run() -> None:
    lines = table(runs(continued=False, count=2), runs(continued=True, count=2)).splitlines()
    assert [line.split()[0] for line in lines] == ["fresh", "run", "1", "2"]
