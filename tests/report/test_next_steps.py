import dataclasses
import shlex

import pytest
import tyro

from isthmus.adapt import MethodSettings
from isthmus.cli.compare import Compare
from isthmus.cli.transfer import Transfer
from isthmus.report.next_steps import next_steps
from isthmus.transfer.control_step import StepTime


@pytest.fixture
def outcome(run):
    """The run, as if it had come to other scores; the unadapted policy has half of the expert's."""

    def make(normalised, scores=(0.6, 0.6), config=None, **changes):
        scale = run.result.expert - run.result.zero
        result = dataclasses.replace(
            run.result,
            unadapted=run.result.zero + 0.5 * scale,
            normalised_unadapted=0.5,
            adapted=run.result.zero + normalised * scale,
            normalised_adapted=normalised,
            **changes,
        )
        rounds = tuple(
            dataclasses.replace(one, normalised=score, std=0.01) for one, score in zip(run.rounds, scores, strict=True)
        )
        return dataclasses.replace(
            run, result=result, rounds=rounds, config=dataclasses.replace(run.config, **(config or {}))
        )

    return make


def titles(run):
    return [step.title for step in next_steps(run)]


def test_at_the_experts_level_it_is_used_and_confirmed(outcome):
    use, confirm = next_steps(outcome(0.99))
    assert 'load_adapted(RunFolder("RUN"))' in use.command
    assert "--seed 1" in confirm.command


def test_a_partial_success_names_what_may_be_missing(outcome):
    assert titles(outcome(0.8)) == ["Let auto choose", "Look further back", "Compare methods", "Use the adapted policy"]
    rising = next_steps(outcome(0.8, scores=(0.6, 0.8)))
    assert rising[0].title == "Take more samples"
    assert "--samples 300" in rising[0].command
    auto = {"config": {"method": "auto"}, "method": "auto", "chosen": "residual-action", "predicted": 0.5}
    assert titles(outcome(0.8, **auto)) == ["Allow retraining", "Compare methods", "Use the adapted policy"]
    allowed = auto | {"config": {"method": "auto", "settings": MethodSettings(may_retrain=True)}}
    assert "Allow retraining" not in titles(outcome(0.8, **allowed))


def test_where_little_is_recovered_the_difference_is_looked_at_first(outcome):
    first, *others = next_steps(outcome(0.55))
    assert first.command == "isthmus analyse identify reacher --logs RUN"
    assert "Use the adapted policy" not in [step.title for step in others]
    assert "worse than the unadapted" in next_steps(outcome(0.3))[0].why


def test_a_control_step_that_takes_too_long_comes_first(outcome):
    done = outcome(0.99, config={"method": "auto"})
    slow = dataclasses.replace(done, step_time=StepTime(p50=64_000.0))
    first = next_steps(slow)[0]
    assert "took 64 ms on this machine, and the robot waits 20 ms" in first.why
    assert "--method inverse" in first.command
    assert "Make it fast enough" not in titles(dataclasses.replace(done, step_time=StepTime(p50=64.0)))


def test_without_a_loss_the_policy_stays_as_it_is(run):
    result = dataclasses.replace(run.result, unadapted=run.result.expert, normalised_unadapted=1.0)
    assert titles(dataclasses.replace(run, result=result)) == ["Keep the policy as it is"]


def test_a_run_without_samples_is_followed_by_one_with(outcome):
    steps = next_steps(outcome(0.5, samples=0))
    assert [step.title for step in steps] == ["Adapt the policy", "Compare methods"]
    assert "--method auto" in steps[0].command


def test_a_real_target_is_not_moved_for_a_comparison(outcome):
    real = {"collection": 100, "evaluation": 5, "traces": 5, "resets": 1}
    assert "Compare methods" not in titles(outcome(0.8, target_steps=real))


def test_a_robot_file_is_loaded_by_the_user(outcome):
    use = next_steps(outcome(0.99, config={"task": "arm.py"}))[0]
    assert "load_adapted(RunFolder(\"RUN\"), load_task('arm.py'))" in use.command
    assert "import RunFolder, load_adapted, load_task" in use.command


@pytest.mark.parametrize("normalised", [0.3, 0.55, 0.8, 0.99])
def test_the_command_line_reads_every_command(outcome, normalised):
    for step in next_steps(outcome(normalised, scores=(0.6, 0.8))):
        words = shlex.split(step.command) if step.command.startswith("isthmus ") else [""] * 2
        if words[1] == "transfer":
            assert tyro.cli(Transfer, args=words[2:]).gap == "tilt=90"
        if words[1] == "compare":
            assert tyro.cli(Compare, args=words[2:]).samples == 100
