import pytest

from isthmus.core.loss import noticeable_loss, recovered, relative_loss


@pytest.mark.parametrize(
    ("expert", "spread", "zero", "least"),
    [
        (3500, 0, 0, 35),  # a return: a hundredth of it
        (-7.3, 0, -370, 0.073),  # a cost: a hundredth of it, however bad doing nothing is
        (1000, 0, 900, 1),  # a bonus that doing nothing has too does not count
        (-7.3, 4, -370, 0.2),  # what drowns in the expert's own spread does not count
        (0, 0, -370, 0),  # perfect, and always so: any loss counts
    ],
)
def test_the_least_loss_that_counts_is_a_share_of_the_experts_score_or_of_its_spread(expert, spread, zero, least):
    assert noticeable_loss(expert, spread, zero) == pytest.approx(least)


def test_a_relative_loss_is_a_share_of_the_size_of_the_experts_score():
    assert relative_loss(-10.0, -13.6) == pytest.approx(0.36)
    assert relative_loss(200.0, 150.0) == pytest.approx(0.25)
    assert relative_loss(200.0, 210.0) == pytest.approx(-0.05)
    assert relative_loss(0.0, -1.0) is None
    assert relative_loss(-9e-12, -1.0) is None  # an expert that follows a recording but for rounding


def test_what_is_recovered_is_a_share_of_the_loss():
    assert recovered(-10.0, -14.0, -11.0) == pytest.approx(0.75)
    assert recovered(-10.0, -14.0, -15.0) == pytest.approx(-0.25)
    assert recovered(-10.0, -10.0, -9.0) is None
