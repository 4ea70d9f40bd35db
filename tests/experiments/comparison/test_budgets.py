import pytest

from isthmus.experiments.comparison.budgets import at_budgets, budget_columns, budget_table
from isthmus.experiments.comparison.comparison import Comparison

BUDGETS = (500, 1000)


@pytest.fixture
def comparisons(tiny, make_row):
    """Two seeds: one method gets better and then does harm in one of the two; the expert as it is scores 0."""
    rows = (make_row("unadapted", 0.0, 0.0, samples=0), make_row("pd", 0.9, -0.2, early=((500, 0.1),)))
    return [Comparison(tiny("pd"), 2, rows, {})]


def test_a_method_is_judged_with_the_samples_it_had(comparisons):
    few, many = (one for one in at_budgets(comparisons, BUDGETS) if one.entry.method == "pd")
    assert few.scores == pytest.approx((0.8, -0.3))
    assert many.scores == pytest.approx((0.9, -0.2))
    assert many.median == pytest.approx(0.35)
    assert many.harmed == 0.5


def test_the_table_has_a_row_a_method_and_what_is_not_there_is_missing(comparisons, tiny, make_row):
    columns, rows = budget_columns(BUDGETS), budget_table(at_budgets(comparisons, BUDGETS), BUDGETS)
    assert all(len(row) == len(columns) for row in rows)
    assert rows[1] == ("pd", "0.250", "0.350", "2", "50%")
    nothing = Comparison(tiny("pd"), 1, (make_row("pd", missing=(0,)),), {})
    assert budget_table(at_budgets([nothing], BUDGETS), BUDGETS) == [("pd", "missing", "missing", "0", "")]


def test_who_is_paid_is_not_among_them(tiny, make_row, kinds):
    cheat = make_row(kinds("cheat", sees_reward=True), 1.0)
    assert at_budgets([Comparison(tiny("pd"), 1, (cheat,), {})], BUDGETS) == []
