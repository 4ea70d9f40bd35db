"""Where the collected samples lie, compared with where the policies go."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from isthmus.core import Float
from isthmus.report.charts.chart import LINE_STYLES, Chart, Json, layout, percent, values
from isthmus.report.run import Role, Round, Run, episodes

POINTS = 3000
"""Most samples drawn."""
COMPARED = 1000
"""Most points that are compared with each other."""
NEAR = 0.05
"""Share of the picture's width within which a sample is called near."""
SHADES = 5
"""Groups of rounds that can be distinguished."""


@dataclass(frozen=True)
class Projection:
    """The plane in which standardised observations vary the most."""

    mean: Float  # (obs,)
    basis: Float  # (obs, 2)
    explained_variance: tuple[float, float]
    """Share of the variance along each axis."""

    def __call__(self, observations: Float) -> Float:
        """Observations (m, obs) as points of the plane (m, 2)."""
        return (observations - self.mean) @ self.basis

    @staticmethod
    def of(observations: Float) -> "Projection":
        """The first two principal components of observations (m, obs), all dimensions at unit standard deviation."""
        mean, std = observations.mean(axis=0), observations.std(axis=0)
        moves = std > 1e-9 * np.abs(observations).max(axis=0)
        inverse = np.where(moves, 1 / np.where(moves, std, 1.0), 0.0)
        standard = (observations - mean) * inverse
        variances, axes = np.linalg.eigh(standard.T @ standard / len(standard))
        order = np.argsort(variances)[::-1][:2]
        if len(order) < 2:
            order = np.array([order[0], order[0]])
        basis = axes[:, order]
        basis = basis * np.where(basis[np.abs(basis).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
        total = max(float(variances.sum()), 1e-12)
        first, second = (max(float(variances[index]), 0.0) / total for index in order)
        return Projection(mean, basis * inverse[:, None], (first, second))


def coverage_chart(run: Run) -> Chart:
    """Collected observations by round, with traced episodes of the expert and the policy on the target over them."""
    collected = [_observations(one) for one in run.rounds]
    roles: tuple[Role, Role] = ("expert", "adapted" if run.rounds else "unadapted")
    paths: dict[Role, list[Float]] = {role: episodes(run.traces[role]) for role in roles}
    everything = [*collected, *(episode for line in paths.values() for episode in line)]
    projection = Projection.of(np.concatenate(everything))
    total = sum(len(one) for one in collected)
    stride = max(1, -(-total // POINTS))
    data: list[Json] = []
    for shade, group in enumerate(_groups(len(collected))):
        points = projection(np.concatenate([collected[number] for number in group])[::stride])
        data.append(_points(group, points, shade if len(collected) > 1 else SHADES - 2))
    data += [_line(role, line, projection) for role, line in paths.items()]
    first, second = (f"{100 * share:.0f} % of variance" for share in projection.explained_variance)
    return Chart(
        "coverage",
        f"Collected samples and the courses of expert and {roles[1]} policy, in two principal components",
        data,
        layout(f"component 1 ({first})", f"component 2 ({second})", height=460),
        f"One sample in {stride} is drawn." if stride > 1 else "",
        _reading(projection, collected, paths[roles[1]]) if run.rounds else "",
    )


def _reading(projection: Projection, collected: list[Float], line: list[Float]) -> str:
    """How much of the policy's trajectory has data around it."""
    samples, course = (_thinned(projection(np.concatenate(some))) for some in (collected, line))
    width = float(np.ptp(np.concatenate((samples, course)), axis=0).max())
    nearest = np.linalg.norm(course[:, None] - samples, axis=2).min(axis=1)
    near = percent(float((nearest <= NEAR * width).mean()))
    look = "Where a line runs through the cloud of points, the policy relies on data; elsewhere it extrapolates."
    return (
        f"{look} Here {near} of the adapted policy’s course has a sample nearby: within {percent(NEAR)} of the width."
    )


def _thinned(points: Float) -> Float:
    return points[:: -(-len(points) // COMPARED)]


def _observations(one: Round) -> Float:
    return np.concatenate([part.observations[part.context :] for episode in one.episodes for part in episode])


def _groups(rounds: int) -> list[range]:
    """Rounds in at most SHADES runs of neighbours."""
    edges = np.linspace(0, rounds, min(rounds, SHADES) + 1).round().astype(int).tolist() if rounds else [0]
    return [range(begin, end) for begin, end in pairwise(edges)]


def _points(group: range, points: Float, shade: int) -> Json:
    name = f"round {group[0] + 1}" if len(group) == 1 else f"rounds {group[0] + 1}–{group[-1] + 1}"
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": values(points[:, 0], 4),
        "y": values(points[:, 1], 4),
        "marker": {"color": f"@round-{shade + 1}", "size": 5},
        "hovertemplate": f"{name}<extra></extra>",
    }


def _line(role: Role, line: list[Float], projection: Projection) -> Json:
    """All episodes in one line, with gaps between them."""
    gap = np.full((1, 2), np.nan)
    points = np.concatenate([part for episode in line for part in (projection(episode), gap)])
    name = f"{role} in the source" if role == "expert" else f"{role} on the target"
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": values(points[:, 0], 4),
        "y": values(points[:, 1], 4),
        "line": {"color": f"@{role}", "width": 2, "dash": LINE_STYLES[role]},
        "hovertemplate": f"{name}<extra></extra>",
    }
