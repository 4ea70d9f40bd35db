"""The documentation: every command parses, every link leads somewhere, and the tutorials run with small budgets."""

import re
import shlex
from pathlib import Path

import pytest

from isthmus.cli import main
from isthmus.cli.commands import COMMANDS, LEAVES
from isthmus.cli.old_names import current_arguments
from isthmus.cli.parse import parse

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
WRITTEN = [page for page in PAGES if not page.is_relative_to(DOCS / "results")]
LARGEST_PICTURE = 150_000


def text(page):
    return page.read_text(encoding="utf-8")


def blocks(page, kind):
    """Each fenced block of a kind: its title, if it has one, and its content."""
    return re.findall(rf'^```{kind}(?: title="([^"]+)")?\n(.*?)^```', text(page), re.DOTALL | re.MULTILINE)


def commands(page):
    lines = [line for _, block in blocks(page, "console") for line in block.replace("\\\n", " ").splitlines()]
    return [words for line in lines if (words := shlex.split(line, comments=True))]


ALL = sorted({tuple(words) for page in WRITTEN for words in commands(page)})


@pytest.mark.parametrize("words", [w for w in ALL if w[0] == "isthmus"], ids=" ".join)
def test_every_command_parses(words):
    if not words[1].startswith("--tyro-"):
        assert current_arguments(words[1:])[1] == []
        assert parse(words[1:]) is not None


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_sentences_have_their_current_names(page):
    sentences = re.sub(r"^```.*?^```", "", text(page), flags=re.DOTALL | re.MULTILINE)
    for name in re.findall(r"`isthmus\s+([a-z][a-z-]*)", sentences):
        assert name in COMMANDS, name


def test_a_command_that_is_not_there_does_not_parse():
    with pytest.raises(SystemExit):
        parse(["transfer", "reacher", "--no-such-option", "3"])


def test_every_make_target_exists():
    targets = re.findall(r"^([a-z]+):", text(ROOT / "Makefile"), re.MULTILINE)
    assert {words[1] for words in ALL if words[0] == "make"} <= set(targets)


def test_commands_has_every_command():
    shown = {name for words in commands(DOCS / "commands.md") for name in LEAVES if words[1 : len(name) + 1] == [*name]}
    assert shown == LEAVES.keys()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text(page)):
        assert (page.parent / link).exists(), link


def test_every_page_is_on_the_site_and_pictures_are_small():
    nav = text(ROOT / "mkdocs.yml")
    assert [p for p in DOCS.rglob("*.md") if str(p.relative_to(DOCS)) not in nav] == []
    assert [p for p in DOCS.rglob("*.png") if p.stat().st_size > LARGEST_PICTURE] == []


def save_files(page, kinds=("xml", "python")):
    """Save the blocks of a page that have a file's name into the current folder."""
    for title, content in (found for kind in kinds for found in blocks(page, kind) if found[0]):
        Path(title).write_text(content, encoding="utf-8")


def run(page, *, only, **instead):
    """Run the commands of a page that contain `only`, with some options replaced."""
    chosen = [words for words in commands(page) if only in " ".join(words)]
    assert chosen, only
    for words in chosen:
        for option, value in instead.items():
            at = words.index("--" + option.replace("_", "-"))
            words[at + 1] = value
        main([*words[1:], *(["--no-video"] if words[1] == "transfer" else [])])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_first_crossing(folder, capsys):
    page = DOCS / "tutorials" / "first-crossing.md"
    run(page, only="--out runs/first", samples="250")
    capsys.readouterr()
    [(_, example)] = blocks(page, "python")
    exec(compile(example, page.name, "exec"), {})
    before, after = map(float, re.findall(r"\d\.\d\d\d", capsys.readouterr().out.splitlines()[0]))
    assert after > before + 0.1


def test_your_robot(folder, capsys):
    page = DOCS / "tutorials" / "your-robot.md"
    save_files(page)
    run(page, only="isthmus check")
    assert "it does what is expected of it" in capsys.readouterr().out
    run(page, only="--target real_arm.py", samples="200", evaluation_episodes="2")
    adapted = re.findall(r"on the target .* (\d\.\d+)", capsys.readouterr().out)
    assert float(adapted[1]) > float(adapted[0])


def test_i_have_logs(folder, capsys):
    page = DOCS / "logs.md"
    save_files(page)
    for program in ("make_log.py", "read_it.py"):
        if program == "read_it.py":
            run(page, only="logs map two_link.csv")
            shown = capsys.readouterr().out
        exec(compile(Path(program).read_text(encoding="utf-8"), program, "exec"), {})
    [(_, printed)] = [found for found in blocks(page, "text") if "shoulder" in found[1]]
    wanted, found = ([line.split()[:6] for line in one.splitlines() if "joint_pos" in line] for one in (printed, shown))
    assert [row[:4] + row[5:] for row in found] == [row[:4] + row[5:] for row in wanted]
    assert [float(row[4]) for row in found] == pytest.approx([float(row[4]) for row in wanted], abs=0.02)
    assert [float(row[4]) for row in found] == pytest.approx([-0.349, -0.262], abs=0.06)
    assert "('shoulder', 'elbow')" in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore")
def test_your_policy(folder, capsys):
    page = DOCS / "tutorials" / "your-policy.md"
    [(name, example)] = [found for found in blocks(page, "python") if found[0]]
    assert "STEPS = 200_000\n" in example
    exec(compile(example.replace("200_000", "1").replace("n_steps=512", "n_steps=8"), name, "exec"), {})
    run(page, only="policy evaluate", episodes="1")
    assert "full-length episodes" in capsys.readouterr().out
