import dataclasses

from isthmus.report.report import collected


def test_rounds_add_up_to_the_samples(run):
    rows = collected(run)
    assert [row.number for row in rows] == [1, 2]
    assert sum(row.samples for row in rows) == run.result.samples
    assert rows[0].planned == run.config.episode_length(0, run.config.round_end(0), run.spec.horizon)


def test_only_early_ends_before_the_last_wave_are_cuts(run):
    first = run.rounds[0]
    episode = first.episodes[0]
    stub = [dataclasses.replace(episode[0], observations=episode[0].observations[:4], **_steps(episode[0], 3))]
    waves = ([stub], [episode], [stub])
    rows = collected(dataclasses.replace(run, rounds=(dataclasses.replace(first, waves=waves),)))
    assert rows[0].cut == 1
    assert rows[0].episodes == 3


def _steps(trajectory, count):
    return {name: getattr(trajectory, name)[:count] for name in ("commands", "applied", "source", "wanted")}
