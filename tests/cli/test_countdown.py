from isthmus.cli.countdown import left_text
from isthmus.experiments.paper.estimate import Estimate


def test_the_time_left_says_only_what_is_known():
    assert left_text(Estimate(7500, ())).replace("\xa0", " ") == "about 2 h 5 min left"
    assert left_text(Estimate(100, ()), since=40).replace("\xa0", " ") == "about 1 min left"
    assert left_text(Estimate(100, ()), since=140) == "longer than expected"
    assert left_text(Estimate(0, ())) == "done"
    assert left_text(Estimate(60, ("humanoid",))).replace("\xa0", " ") == (
        "more than 1 min left: no cell of humanoid is finished yet"
    )
    assert left_text(Estimate(0, ("hopper", "humanoid"))).startswith("time left unknown: no cell of hopper or humanoid")
