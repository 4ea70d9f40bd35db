"""Check the diagram in docs/architecture.md against the import graph: `python tools/diagram.py`, part of `make lint`.

An arrow from one package to another has to stand for an import, and every import has to follow arrows: the diagram is
the smallest one that shows which package is above which (the transitive reduction of the import graph).
"""

import re
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import grimp

PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
OUTSIDE = {"isthmus", "__main__"}
"""The package's own two files, which only pass on what is below them."""
Graph = Mapping[str, frozenset[str]]


def drawn(page: str) -> Graph:
    """From each package of the diagram the packages that its arrows lead to."""
    found = re.search(r"```mermaid\n(.*?)```", page, re.DOTALL)
    if not found:
        raise SystemExit(f"{PAGE.name} has no diagram")
    arrows = defaultdict[str, set[str]](set)
    for tail, heads in re.findall(r"^\s*(\w+) --> (\w+(?: & \w+)*)\s*$", found[1], re.MULTILINE):
        arrows[tail] |= set(heads.split(" & "))
    return {package: frozenset(heads) for package, heads in arrows.items()}


def imported() -> Graph:
    """From each package the packages that it imports, but for those imported only to check types."""
    graph = grimp.build_graph("isthmus", exclude_type_checking_imports=True)
    imports = defaultdict[str, set[str]](set)
    for module in graph.modules:
        for other in graph.find_modules_directly_imported_by(module):
            tail, head = _package(module), _package(other)
            if tail != head and tail not in OUTSIDE:
                imports[tail].add(head)
    return {package: frozenset(heads) for package, heads in imports.items()}


def below(graph: Graph, package: str) -> set[str]:
    """All packages that can be reached from one."""
    found, rest = set[str](), list(graph.get(package, ()))
    while rest:
        one = rest.pop()
        if one not in found:
            found.add(one)
            rest += graph.get(one, ())
    return found


def reduced(graph: Graph) -> Graph:
    """The graph without the arrows that others imply."""
    return {
        package: frozenset(head for head in heads if not any(head in below(graph, other) for other in heads - {head}))
        for package, heads in graph.items()
    }


def differences(page: str) -> list[str]:
    """A line for each arrow that is missing or too many."""
    have, want = drawn(page), reduced(imported())
    arrows = {(tail, head) for tail, heads in have.items() for head in heads}
    imports = {(tail, head) for tail, heads in want.items() for head in heads}
    return [
        *(f"missing: {tail} --> {head}, for {tail} imports {head}" for tail, head in sorted(imports - arrows)),
        *(
            f"too many: {tail} --> {head}, which is no import, or follows from others"
            for tail, head in sorted(arrows - imports)
        ),
    ]


def _package(module: str) -> str:
    return module.split(".")[1] if "." in module else module


if __name__ == "__main__":
    wrong = differences(PAGE.read_text(encoding="utf-8"))
    for line in wrong:
        print(f"docs/architecture.md: {line}")
    sys.exit(bool(wrong))
