"""Small changes to the arithmetic and the decisions of a Python module, one at a time."""

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Change = Callable[[ast.AST], ast.AST | None]
"""Makes another node of a node; None where it does not apply."""

OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
NAMES = {"maximum": "minimum", "minimum": "maximum", "max": "min", "min": "max", "argmax": "argmin", "argmin": "argmax"}
TRANSPARENT = ("square", "sqrt", "abs", "log", "exp")
"""Functions of NumPy that are dropped: f(x) becomes x."""


@dataclass(frozen=True)
class Mutant:
    """A module with one change."""

    line: int
    before: str
    after: str
    source: str
    """Of the module as it is."""
    place: int
    """The number of the node that is changed."""
    changed: ast.AST

    @property
    def name(self) -> str:
        """Where the change is, and what."""
        return f"{self.line}: {self.before} -> {self.after}"

    @property
    def tree(self) -> ast.Module:
        """The changed module."""
        tree = ast.parse(self.source)
        _replace(tree, self.place, self.changed)
        return ast.fix_missing_locations(tree)


def mutants(source: str) -> Iterator[Mutant]:
    """All mutants of a module, in the order of its lines."""
    for place, node in enumerate(_nodes(ast.parse(source))):
        for change in CHANGES:
            changed = change(copy.deepcopy(node))
            if changed is not None:
                line = getattr(node, "lineno", 0)
                yield Mutant(line, ast.unparse(node), ast.unparse(changed), source, place, changed)


def _nodes(tree: ast.AST) -> list[ast.AST]:
    """The nodes that may be changed: no annotations, docstrings, imports or decorators."""
    found = list[ast.AST]()
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:  # pyright: ignore[reportUnknownVariableType]
            if isinstance(child, ast.AST) and not isinstance(child, (ast.Import, ast.ImportFrom)):
                found += [child, *_nodes(child)]
    return found


def _replace(tree: ast.Module, place: int, changed: ast.AST) -> None:
    """Put a node where the one of number `place` is."""
    wanted = _nodes(tree)[place]
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if value is wanted:
                setattr(parent, field, changed)
                return
            if isinstance(value, list) and any(one is wanted for one in value):  # pyright: ignore[reportUnknownVariableType]
                value[[one is wanted for one in value].index(True)] = changed  # pyright: ignore[reportUnknownVariableType]
                return


def _operator(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        node.op = OPERATORS[type(node.op)]()
        return node
    return None


def _dropped_term(node: ast.AST) -> ast.AST | None:
    """A + b becomes a, a * b becomes a."""
    kinds = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.BitAnd, ast.BitOr)
    return node.left if isinstance(node, ast.BinOp) and isinstance(node.op, kinds) else None


def _first_term(node: ast.AST) -> ast.AST | None:
    """A + b becomes b, a * b becomes b."""
    return node.right if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mult, ast.BitAnd)) else None


def _comparison(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
        node.ops = [COMPARISONS[type(node.ops[0])]()]
        return node
    return None


def _boolean(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return node
    return None


def _sign(node: ast.AST) -> ast.AST | None:
    """-x becomes x, not x becomes x, ~x becomes x."""
    return node.operand if isinstance(node, ast.UnaryOp) else None


def _constant(node: ast.AST) -> ast.AST | None:
    """0 becomes 1, other numbers twice themselves; truth values are negated."""
    if not isinstance(node, ast.Constant):
        return None
    if isinstance(node.value, bool):
        return ast.Constant(not node.value)
    if isinstance(node.value, (int, float)):
        return ast.Constant(2 * node.value if node.value else type(node.value)(1))
    return None


def _function(node: ast.AST) -> ast.AST | None:
    """np.maximum becomes np.minimum, np.square(x) becomes x."""
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Attribute):
        if node.func.attr in NAMES:
            node.func.attr = NAMES[node.func.attr]
            return node
        if node.func.attr in TRANSPARENT and len(node.args) == 1:
            return node.args[0]
    if isinstance(node.func, ast.Name) and node.func.id in NAMES:
        node.func.id = NAMES[node.func.id]
        return node
    return None


def _branches(node: ast.AST) -> ast.AST | None:
    """`a if c else b` becomes `b if c else a`, and so does np.where(c, a, b)."""
    if isinstance(node, ast.IfExp):
        node.body, node.orelse = node.orelse, node.body
        return node
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "np.where" and len(node.args) == 3:
        node.args[1:] = node.args[:0:-1]
        return node
    return None


CHANGES: tuple[Change, ...] = (
    *(_operator, _dropped_term, _first_term, _comparison, _boolean, _sign, _constant, _function, _branches),
)
