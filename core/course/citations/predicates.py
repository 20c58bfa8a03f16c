"""Predicates over a file's text: what a release defines, says, never says, or sets a name to. Nothing is executed.

A Python file is read as a syntax tree and written out again without comments and docstrings, so that line breaks,
quotes and a text that is cut over several lines make no difference; any other file is its text. A symbol is a
dotted name, `Class.method`; "" is the whole file, `function(parameter)` a parameter's default.
"""

import ast
import re
from dataclasses import dataclass

MOST_CHARACTERS = 2_000_000

_Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class UnparsedError(ValueError):
    """A file that cannot be read as what its name says."""


@dataclass(frozen=True)
class Defined:
    """That a module defines the symbol that is cited."""

    def holds(self, text: str, symbol: str) -> bool:
        """Whether a module defines a function, a class, a method or a name."""
        return _find(_tree(text), symbol) is not None


@dataclass(frozen=True)
class Says:
    """Every fragment is in the symbol's code, in this order: an order of conditions, or a line a log shows."""

    fragments: tuple[str, ...]

    def __init__(self, *fragments: str) -> None:
        object.__setattr__(self, "fragments", fragments)

    def holds(self, text: str, symbol: str) -> bool:
        code, at = _code(text, symbol), 0
        for fragment in self.fragments:
            at = code.find(fragment, at)
            if at < 0:
                return False
            at += len(fragment)
        return bool(code)


@dataclass(frozen=True, init=False)
class Has(Says):
    """Every fragment is in the symbol's code, in whatever order: the flags that a command takes."""

    def holds(self, text: str, symbol: str) -> bool:
        code = _code(text, symbol)
        return bool(code) and all(fragment in code for fragment in self.fragments)


@dataclass(frozen=True)
class Never:
    """No fragment is in the symbol's code, and the symbol is there."""

    fragments: tuple[str, ...]

    def __init__(self, *fragments: str) -> None:
        object.__setattr__(self, "fragments", fragments)

    def holds(self, text: str, symbol: str) -> bool:
        code = _code(text, symbol)
        return bool(code) and not any(fragment in code for fragment in self.fragments)


@dataclass(frozen=True)
class Is:
    """The name is set to this value, or the parameter has it by default."""

    value: object

    def holds(self, text: str, symbol: str) -> bool:
        """Whether it is that value; sums and products of numbers and of the file's own names are worked out."""
        tree = _tree(text)
        node = _find(tree, symbol)
        return isinstance(node, ast.expr) and _value(node, tree) == self.value


Predicate = Defined | Says | Never | Is


def _tree(text: str) -> ast.Module:
    """A module's syntax tree. Raises UnparsedError for what is too long, too deep or no Python."""
    if len(text) > MOST_CHARACTERS:
        raise UnparsedError("too long")
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnparsedError(type(error).__name__) from error


def _code(text: str, symbol: str) -> str:
    """A symbol's code on one line, without comments and docstrings; "" where it is not there."""
    try:
        definition = _find(_tree(text), symbol)
    except UnparsedError:
        if symbol:
            raise
        return " ".join(text.split())
    if definition is None:
        return ""
    for node in ast.walk(definition):
        if isinstance(node, _Scope) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return re.sub(r"\s+", " ", ast.unparse(definition))


def _find(tree: ast.Module, symbol: str) -> ast.AST | None:
    """The node of a dotted name: a definition, or the expression that a name is set to."""
    path, _, parameter = symbol.removesuffix(")").partition("(")
    node: ast.AST = tree
    for name in path.split(".") if path else []:
        inside = _named(node, name)
        if inside is None:
            return None
        node = inside
    return _default(node, parameter) if parameter else node


def _named(scope: ast.AST, name: str) -> ast.AST | None:
    for node in getattr(scope, "body", ()):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            return node
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                return node.value
    return None


def _default(function: ast.AST, parameter: str) -> ast.expr | None:
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    positional = [*function.args.posonlyargs, *function.args.args]
    last = positional[len(positional) - len(function.args.defaults) :]
    defaults = {one.arg: value for one, value in zip(last, function.args.defaults, strict=True)}
    for one, value in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        if value is not None:
            defaults[one.arg] = value
    return defaults.get(parameter)


def _value(node: ast.AST, tree: ast.Module) -> object:
    """A literal, a sum or product of literals, or a name of the module that stands for one; else its code."""
    match node:
        case ast.Name(id=name):
            named = _named(tree, name)
            return None if named is None or isinstance(named, ast.Name) else _value(named, tree)
        case ast.BinOp(left=left, op=op, right=right):
            one, other = _value(left, tree), _value(right, tree)
            if not (isinstance(one, int) and isinstance(other, int)):
                return None
            match op:
                case ast.Mult():
                    return one * other
                case ast.Add():
                    return one + other
                case ast.FloorDiv() if other:
                    return one // other
            return None
        case ast.Dict(keys=keys, values=values):
            return {
                _value(key, tree) if key else None: _value(value, tree)
                for key, value in zip(keys, values, strict=True)
            }
        case ast.List(elts=parts):
            return [_value(part, tree) for part in parts]
        case ast.Call(keywords=keywords):
            default = next((word.value for word in keywords if word.arg == "default"), None)
            return None if default is None else _value(default, tree)
        case ast.Constant(value=value):
            return value
    return None
