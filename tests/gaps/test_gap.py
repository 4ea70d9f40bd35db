import copy

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.core import Problem
from isthmus.gaps import KINDS, Gap
from isthmus.robots import load_task


@pytest.fixture(scope="module")
def hopper():
    return load_task("hopper")


@st.composite
def values(draw, kind):
    """Any number that the dial can be set to."""
    if kind.whole:
        return float(draw(st.integers(int(kind.low), int(kind.high))))
    return draw(st.floats(kind.low, kind.high))


@st.composite
def gaps(draw):
    """Any dials in any order, perhaps for a body or two, perhaps beside a random gap."""
    names = draw(st.sets(st.sampled_from(sorted(KINDS))))
    names |= {KINDS[name].beside for name in names} - {""}
    settings = []
    for name in draw(st.permutations(sorted(names))):
        bodies = {"no": [""], "perhaps": ["", ":leg", ":left thigh"], "yes": [":leg", ":left thigh"]}[KINDS[name].body]
        chosen = draw(st.sets(st.sampled_from(bodies), min_size=1))
        settings += [(name + body, draw(values(KINDS[name]))) for body in sorted(chosen)]
    return Gap(tuple(settings), draw(st.none() | st.integers(0, 2**40)))


def content(model):
    """Every number of a model."""
    buffer = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return buffer.tobytes()


@given(gaps())
def test_a_gap_is_read_back_from_its_text(gap):
    assert Gap.parse(str(gap)) == gap
    assert str(Gap.parse(str(gap))) == str(gap)


@given(gaps(), st.randoms())
def test_the_order_of_the_dials_does_not_matter(gap, random):
    shuffled = list(gap.settings)
    random.shuffle(shuffled)
    assert Gap(tuple(shuffled), gap.random) == gap


@pytest.mark.parametrize("text", ["", "none", " none "])
def test_no_gap_has_a_name(text):
    assert Gap.parse(text) == Gap()
    assert str(Gap()) == "none"


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("tilt=30", "tilt=30"),
        (" tilt = 30 ", "tilt=30"),
        ("tilt=3e1", "tilt=30"),
        ("delay=2.0", "delay=2"),
        ("mass : torso = 1.3", "mass:torso=1.3"),
        ("motor-noise=.2, gravity=1.2", "gravity=1.2,motor-noise=0.2"),
        ("gravity=1.2,random:007", "random:7,gravity=1.2"),
        (" random : 7 ", "random:7"),
        ("mass:leg=2,mass=1.5,mass:foot=3", "mass=1.5,mass:foot=3,mass:leg=2"),
    ],
)
def test_spaces_notation_and_order_do_not_matter(text, means):
    assert str(Gap.parse(text)) == means


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("tlit=30", r"unknown gap 'tlit': choose from .*tilt.*; did you mean 'tilt'\?"),
        ("tilt=30,", r"unknown gap '': choose from .*tilt"),
        ("=30", r"unknown gap '': choose from .*tilt"),
        ("tilt", r"gap 'tilt' needs a number from 0 to 90 degrees, as in tilt=90"),
        ("tilt=", r"gap 'tilt=' needs a number from 0 to 90 degrees"),
        ("tilt=steep", r"gap 'tilt=steep' needs a number from 0 to 90 degrees"),
        ("tilt=-1", r"gap 'tilt=-1' needs a number from 0 to 90 degrees"),
        ("tilt=90.001", r"gap 'tilt=90\.001' needs a number from 0 to 90 degrees"),
        ("tilt=nan", r"gap 'tilt=nan' needs a number from 0 to 90 degrees"),
        ("tilt=inf", r"gap 'tilt=inf' needs a number from 0 to 90 degrees"),
        ("tilt=30,tilt=40", r"gap 'tilt' is given twice: give it once"),
        ("mass:leg=1,mass:leg=2", r"gap 'mass:leg' is given twice: give it once"),
        ("delay=1.5", r"gap 'delay=1\.5' needs a whole number from 0 to 50 control steps, as in delay=2"),
        ("mass:leg=99", r"gap 'mass:leg=99' needs a number from 0\.1 to 10 times the source's, as in mass:leg=1\.3"),
        ("mass:=2", r"gap 'mass' needs the name of a body, as in mass:BODY=1\.3"),
        ("payload=2", r"gap 'payload' needs the name of a body, as in payload:BODY=2"),
        ("link-length=1.1", r"gap 'link-length' needs the name of a body, as in link-length:BODY=1\.1"),
        ("gravity:leg=1.1", r"gap 'gravity' is not for one body: give gravity=1\.2"),
        ("noise-correlation=0.9", r"means nothing without motor-noise, as in motor-noise=0\.2,noise-correlation=0\.9"),
        ("delay-jitter=1", r"gap 'delay-jitter' means nothing without delay, as in delay=2,delay-jitter=1"),
        ("random", r"gap 'random' needs a seed, as in random:7"),
        ("random:", r"gap 'random:' needs a seed, as in random:7"),
        ("random:-1", r"gap 'random:-1' needs a seed, as in random:7"),
        ("random:1,random:2", r"there are 2 random gaps in 'random:1,random:2': give one"),
    ],
)
def test_what_is_no_gap_is_a_problem_that_says_what_is(text, complaint):
    with pytest.raises(Problem, match=complaint):
        Gap.parse(text)


def test_a_gap_that_is_made_without_text_is_checked_as_well():
    for settings in ((("tilt", 91.0),), (("tilt", 1.0), ("tilt", 1.0)), (("flux", 1.0),), (("delay-jitter", 1.0),)):
        with pytest.raises(Problem):
            Gap(settings)
    with pytest.raises(Problem, match="at least 0"):
        Gap(random=-1)


@given(st.text("tilmass:delay-random=,.0123456789 ", max_size=16))
def test_any_text_is_a_gap_or_a_problem(text):
    try:
        gap = Gap.parse(text)
    except Problem:
        return
    for name, value in gap.settings:
        assert KINDS[name.partition(":")[0]].admits(value)


@pytest.mark.parametrize("text", ["mass:trso=2", "payload:trso=2", "link-length:trso=1.1"])
def test_a_body_that_is_not_there_is_a_problem_that_names_those_that_are(hopper, text):
    with pytest.raises(Problem, match=r"unknown body 'trso': choose from foot, leg, thigh, torso; did you mean 'tors"):
        Gap.parse(text).apply(hopper.robot_model.model)


def test_what_does_not_belong_to_the_robot_is_none_of_its_bodies(reacher):
    with pytest.raises(Problem, match="unknown body 'target': choose from body0, body1, fingertip"):
        Gap.parse("mass:target=2").apply(reacher.robot_model.model)


@pytest.mark.parametrize("text", ["none", "tilt=90", "link-length:body1=1.2,mass=2", "motor-noise=0.2"])
def test_a_gap_is_applied_to_a_copy(reacher, text):
    model = reacher.robot_model.model
    before = content(model)
    changed = Gap.parse(text).apply(model)
    assert changed is not model
    assert content(model) == before
    assert (content(changed) == before) == (text in ("none", "motor-noise=0.2"))
    changed.opt.gravity[:] = 0
    changed.body_mass[:] = 1
    assert content(model) == before


def test_no_gap_fits_every_robot():
    model = mujoco.MjModel.from_xml_string("<mujoco><worldbody/></mujoco>")
    assert content(Gap().apply(model)) == content(copy.copy(model))


def test_gaps_of_all_sorts_combine(hopper):
    gap = Gap.parse("gravity=1.2,mass=2,mass:leg=1.5,payload:leg=1,delay=1,motor-noise=0.2,sensor-noise=0.01")
    model, source = gap.apply(hopper.robot_model.model), hopper.robot_model.model
    leg = source.body("leg").id
    assert model.opt.gravity[2] == pytest.approx(1.2 * source.opt.gravity[2])
    assert model.body_mass[leg] == pytest.approx(3 * source.body_mass[leg] + 1)
    assert gap.action_channel(hopper.robot_model.spec, 1) is not None
    assert gap.sensor_channel(hopper.robot_model.spec, 1) is not None


def test_nothing_is_put_in_the_way_that_is_not_asked_for(hopper):
    gap = Gap.parse("gravity=1.2,delay=0,motor-noise=0,noise-correlation=0.9,sensor-noise=0,sensor-delay=0,backlash=0")
    assert gap.action_channel(hopper.robot_model.spec, 3) is None
    assert gap.sensor_channel(hopper.robot_model.spec, 3) is None


def test_a_random_gap_must_be_drawn_before_its_paths_are_known(hopper):
    with pytest.raises(ValueError, match="random:7 has yet to be drawn"):
        Gap.parse("random:7").action_channel(hopper.robot_model.spec, 1)


def test_what_would_be_too_stiff_to_simulate_is_refused():
    humanoid = load_task("humanoid")
    with pytest.raises(Problem, match=r"gap damping=3,armature=0\.2 cannot be simulated on this robot: use less dam"):
        Gap.parse("damping=3,armature=0.2").apply(humanoid.robot_model.model)
    humanoid.target(Gap.parse("damping=3"))
    humanoid.target(Gap.parse("armature=0.2"))
