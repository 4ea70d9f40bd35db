from isthmus.core import stream
from isthmus.gaps import Gap
from isthmus.policies import ZeroPolicy
from isthmus.tasks import load_task
from isthmus.transfer.target import FIRST_EPISODES, SimulatedTarget


def scored(settled):
    task, seen = load_task("reacher"), []

    def watched(scores):
        seen.append(len(scores))
        return settled

    target = SimulatedTarget(task, Gap.parse("none"), 20)
    ask = None if settled is None else watched
    return target.score(ZeroPolicy(2), 1, stream(0, "evaluate"), ask), seen


def test_what_is_settled_early_takes_no_more_episodes():
    early, seen = scored(settled=True)
    assert seen == [FIRST_EPISODES]
    late, _ = scored(settled=False)
    whole, asked = scored(settled=None)
    assert asked == []
    assert early.score != late.score
    assert late.score != whole.score  # the same robots from other starts
