"""How is Lark's grammar notation read? By the loader of the `lark` package, whose trees become IR here.

The loader parses, imports from its library and checks; only its trees are used, never its parsers or lexers.
`docs/grammars.md` says what is accepted and what a terminal means. The trees are walked with a stack, not by
recursion; terminals share subtrees, so each is lowered once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, NoReturn, TypeVar

from maskwright.errors import GrammarError, LimitError, MaskwrightError
from maskwright.grammar.lark_source import LarkSource, read_source
from maskwright.grammar.lark_terminal import Pattern, lazy_terminal, lower_pattern, lower_regex_text, shown
from maskwright.grammar.usefulness import ParsedGrammar, report
from maskwright.ir import UNBOUNDED, Builder, Node, Rule

MAX_INSTANCES = 10_000  # uses of templates with different arguments
MAX_JOINED = 100_000  # characters of a terminal that is lowered as one regular expression

_COUNTS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
Value = TypeVar("Value")


def lark_to_ir(text: str, *, start: str = "start", special: Mapping[str, int] | None = None) -> ParsedGrammar:
    """The grammar that a text in Lark's notation describes, with notes on useless rules.

    `start` names the rule of the whole text; `special` maps the names of special tokens to their ids, for
    `<|name|>` and `%declare`. Needs the `lark` package (`pip install maskwright[grammar]`). `GrammarError`
    with line and column for what cannot be read or enforced; `LimitError` past the limits of `lark_source`.

    >>> lark_to_ir('start: "a" start | "b"').grammar.names
    ('start',)

    Notation: the grammar reference of Lark.
    """
    loader = _loader()
    source = read_source(text, special or {})
    return _Lowering(loader, source, _load(loader, source)).run(start)


def _loader() -> Any:
    try:
        return import_module("lark.load_grammar")
    except ModuleNotFoundError as error:
        raise MaskwrightError(
            "grammars in Lark's notation need the lark package",
            why=str(error),
            try_="pip install 'maskwright[grammar]', or write the grammar in GBNF",
            code="grammar.lark-missing",
        ) from error


def _load(loader: Any, source: LarkSource) -> Any:
    """Lark's own reading of the text; its errors become ours, with the user's line."""
    from lark.exceptions import LarkError  # noqa: PLC0415 - the package is optional

    try:
        return loader.load_grammar(source.clean, "the grammar", [], False)[0]
    except LarkError as error:
        _translate(source, error)
    except RecursionError as error:
        raise LimitError(
            "the grammar is nested too deep for Lark's loader", limit="grammar_nesting", value=0
        ) from error
    except (AssertionError, OSError, ValueError) as error:
        raise GrammarError(
            "Lark's loader refuses the grammar", why=str(error) or None, code="grammar.syntax"
        ) from error


def _translate(source: LarkSource, error: Exception) -> NoReturn:
    message = str(error)
    what = message.split("\n", 1)[0].rstrip(": ")
    line: int | None = getattr(error, "line", None)
    column: int | None = getattr(error, "column", None)
    found = re.search(r",? ?at line (\d+),? col(?:umn)? (\d+)(?: in the grammar)?", what)
    if found is not None:
        line, column = int(found[1]), int(found[2])
        what = what[: found.start()] + what[found.end() :]
    if line is not None and 0 < line <= len(source.lines):
        raise GrammarError(what, line=source.lines[line - 1], column=column, code="grammar.syntax") from error
    place = source.place_in(what)
    raise GrammarError(
        what,
        line=place.line if place else None,
        column=place.column if place else None,
        code="grammar.syntax",
    ) from error


@dataclass(frozen=True, slots=True)
class _Template:
    params: tuple[str, ...]
    tree: Any


class _Lowering:
    """One grammar on its way from Lark's trees to the IR."""

    def __init__(self, loader: Any, source: LarkSource, loaded: Any) -> None:
        self.loader = loader
        self.source = source
        self.builder = Builder()
        self.trees: dict[str, Any] = {}
        self.templates: dict[str, _Template] = {}
        for name, params, tree, options in loaded.rule_defs:
            if params:
                self.templates[str(name)] = _Template(tuple(map(str, params)), tree)
            else:
                self.trees[str(name)] = tree
            self._no_priority(str(name), getattr(options, "priority", None))
        self.terminals = {str(name): tree for name, (tree, _) in loaded.term_defs}
        self.rules: dict[str, Rule] = {}
        self.instances: dict[tuple[str, tuple[Node, ...]], Rule] = {}
        self.pending: list[tuple[Rule, Any, dict[str, Node]]] = []
        self.terminal_nodes: dict[str, Node] = {}
        self.ignored = self._ignored([str(name) for name in loaded.ignore])

    def run(self, start: str) -> ParsedGrammar:
        if start not in self.trees:
            others = ", ".join(list(self.trees)[:8])
            raise GrammarError(
                f"there is no rule {start!r}",
                why="it is the rule that the whole text must match",
                try_="define it" + (f", or start= one of: {others}" if others else ""),
                code="grammar.undefined",
            )
        for name, tree in self.trees.items():
            rule = self.rules[name] = self.builder.rule(name)
            self.pending.append((rule, tree, {}))
        while self.pending:
            rule, tree, env = self.pending.pop()
            self.builder.define(rule, _RuleFold(self, env).fold(tree))
        root = self.rules[start]
        if self.ignored is not None:
            root = self.builder.rule(
                "the text", self.builder.sequence([self.ignored, self.builder.reference(root)])
            )
        return self._report(self.builder.grammar(root), start)

    def _report(self, grammar: Any, start: str) -> ParsedGrammar:
        places = {rule: place for name, rule in self.rules.items() if (place := self.source.place_of(name))}
        if grammar.root not in places and (place := self.source.place_of(start)):
            places[grammar.root] = place
        return report(grammar, lambda: places)

    def _no_priority(self, name: str, priority: int | None) -> None:
        if priority:
            raise GrammarError(f"rule {name!r} has a priority", code="grammar.unsupported.priority")

    def _ignored(self, names: list[str]) -> Node | None:
        """What may stand between any two terminals; None without `%ignore`."""
        if not names:
            return None
        kinds = self.builder.choice([self.terminal(name) for name in dict.fromkeys(names)])
        return self.builder.reference(self.builder.rule("ignored", self.builder.repeat(kinds, 0, None)))

    def terminal(self, name: str) -> Node:
        """The texts of one terminal, or its special token; nothing ignored around it."""
        node = self.terminal_nodes.get(name)
        if node is None:
            node = self.terminal_nodes[name] = self._lower_terminal(name)
        return node

    def _lower_terminal(self, name: str) -> Node:
        token = self.source.tokens.get(name)
        if token is not None:
            return self.builder.special(token)
        tree = self.terminals[name]
        where = f"terminal {name}"
        literals = [self.pattern(literal) for literal in tree.find_data("literal")]
        if any(pattern.lazy for pattern in literals):
            return self._lower_lazy(tree, literals, where)
        near = next((pattern for pattern in literals if pattern.sees_neighbours), None)
        if near is not None:
            return lower_regex_text(self.builder, _TextFold(self, where).fold(tree), near, where=where)
        return _TerminalFold(self, where).fold(tree)

    def _lower_lazy(self, tree: Any, literals: list[Pattern], where: str) -> Node:
        parts = _straight(tree)
        patterns = [self.pattern(part) for part in parts] if parts is not None else literals
        # Under a choice or a repeat a part has no fixed end: two of everything make the shape fail.
        node = lazy_terminal(
            self.builder, patterns if parts is not None else [*patterns, *patterns], where=where
        )
        assert node is not None  # a part is lazy, which the caller saw
        return node

    def pattern(self, tree: Any) -> Pattern:
        """A literal or range of the loader's tree, its escapes read by the loader."""
        tokens = tree.children
        line, column = self.place(tokens[0])
        read = [self._read(token, line, column) for token in tokens]
        if tree.data == "range":
            low, high = (pattern.value for pattern in read)
            raw = f"{tokens[0]}..{tokens[1]}"
            if len(low) != 1 or len(high) != 1 or high < low or read[0].flags or read[1].flags:
                raise GrammarError(
                    f"{shown(raw)} is not a range of characters",
                    line=line,
                    column=column,
                    why="both ends are one character, in order, without flags",
                    code="grammar.syntax",
                )
            return Pattern("range", low + high, "", shown(raw), line, column)
        kind = "string" if tokens[0].type == "STRING" else "regexp"
        flags = "".join(sorted(read[0].flags))
        return Pattern(kind, read[0].value, flags, str(tokens[0]), line, column)

    def _read(self, token: Any, line: int | None, column: int | None) -> Any:
        try:
            return self.loader._literal_to_pattern(token)
        except (self.loader.GrammarError, ValueError, AssertionError) as error:
            what = str(error.args[0]) if error.args else "cannot be read"
            raise GrammarError(
                f"{shown(token)}: {what}", line=line, column=column, code="grammar.syntax"
            ) from error

    def place(self, token: Any) -> tuple[int | None, int | None]:
        """The user's line and column of a token; none for what the library defines."""
        line = getattr(token, "line", None)
        if line is None or line > len(self.source.lines) or str(token) not in self.source.text:
            return None, None
        return self.source.lines[line - 1], token.column

    def symbol(self, name: str, is_terminal: bool) -> Node:
        """A name in the body of a rule."""
        if not is_terminal:
            if name not in self.rules:
                self._misused(name)
            return self.builder.reference(self.rules[name])
        return self.then_ignored(self.terminal(name))

    def _misused(self, name: str) -> NoReturn:
        place = self.source.place_of(name)
        raise GrammarError(
            f"template {name!r} is used without its arguments",
            line=place.line if place else None,
            column=place.column if place else None,
            code="grammar.template",
        )

    def then_ignored(self, node: Node) -> Node:
        return node if self.ignored is None else self.builder.sequence([node, self.ignored])

    def instance(self, name: str, arguments: tuple[Node, ...]) -> Node:
        """A template with its arguments: a rule of its own, lowered once for equal arguments."""
        key = (name, arguments)
        rule = self.instances.get(key)
        if rule is None:
            if len(self.instances) >= MAX_INSTANCES:
                raise LimitError(
                    "the templates of the grammar never stop growing",
                    limit="grammar_templates",
                    value=MAX_INSTANCES,
                    where=f"template {name!r}",
                )
            if name not in self.templates:
                raise GrammarError(
                    f"{name!r} is not a template",
                    why="only the name of a template takes arguments; a parameter takes none",
                    code="grammar.template",
                )
            template = self.templates[name]
            rule = self.instances[key] = self.builder.rule(f"{name}{{{len(self.instances)}}}")
            self.pending.append((rule, template.tree, dict(zip(template.params, arguments, strict=True))))
        return self.builder.reference(rule)


def _straight(tree: Any) -> list[Any] | None:
    """The literals of a terminal that is one sequence of them; None where it has a choice or a repeat."""
    flat = []
    stack = [tree]
    while stack:
        item = stack.pop()
        if item.data == "literal":
            flat.append(item)
        elif item.data in ("value", "expansion") or (item.data == "expansions" and len(item.children) == 1):
            stack.extend(reversed(item.children))
        else:
            return None
    return flat


class _Fold(Generic[Value]):
    """Walks one tree of the loader with a stack; what a node becomes is up to the subclass."""

    def __init__(self, lowering: _Lowering, where: str) -> None:
        self.lowering = lowering
        self.builder = lowering.builder
        self.where = where

    def fold(self, tree: Any) -> Value:
        """The value of a whole tree. Shared subtrees are worked out once."""
        done: dict[int, Value] = {}
        stack = [(tree, False)]
        while stack:
            node, ready = stack.pop()
            if id(node) in done:
                continue
            below = self._below(node)
            if ready or not below:
                done[id(node)] = self.combine(node, [done[id(child)] for child in below])
            else:
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(below))
        return done[id(tree)]

    @staticmethod
    def _below(node: Any) -> list[Any]:
        if node.data in ("literal", "range"):
            return []
        return [child for child in node.children if hasattr(child, "data")]

    def combine(self, node: Any, values: list[Value]) -> Value:  # noqa: PLR0911 - dispatch
        """The value of a node from those of its subtrees."""
        kind = node.data
        if kind in ("literal", "range"):
            return self.pattern(node)
        if kind == "value":
            return (
                values[0]
                if values
                else self.symbol(str(node.children[0].name), bool(node.children[0].is_term))
            )
        if kind == "expansion":
            return self.sequence(values)
        if kind == "expansions":
            return self.choice(values)
        if kind == "maybe":
            return self.repeat(values[0], 0, 1)
        if kind == "expr":
            return self.repeat(values[0], *self.counts(node.children[1:]))
        if kind == "alias":
            return values[0]
        return self.template(str(node.children[0].name), values)

    def counts(self, arguments: list[Any]) -> tuple[int, int | None]:
        """How often: an operator, or `~` and one or two numbers."""
        operator, *numbers = arguments
        if str(operator) in _COUNTS:
            return _COUNTS[str(operator)]
        counts = [int(number) if len(number) <= 10 else UNBOUNDED for number in numbers]
        least, most = counts[0], counts[-1]
        if not 0 <= least <= most < UNBOUNDED:
            line, column = self.lowering.place(operator)
            raise GrammarError(
                f"~ {shown('..'.join(map(str, numbers)))} is not a range of counts",
                line=line,
                column=column,
                code="grammar.syntax",
            )
        return least, most

    def pattern(self, node: Any) -> Value:
        raise NotImplementedError

    def symbol(self, name: str, is_terminal: bool) -> Value:
        raise NotImplementedError

    def sequence(self, values: list[Value]) -> Value:
        raise NotImplementedError

    def choice(self, values: list[Value]) -> Value:
        raise NotImplementedError

    def repeat(self, value: Value, least: int, most: int | None) -> Value:
        raise NotImplementedError

    def template(self, name: str, values: list[Value]) -> Value:
        raise NotImplementedError


class _TerminalFold(_Fold[Node]):
    """A terminal, part by part."""

    def pattern(self, node: Any) -> Node:
        return lower_pattern(self.builder, self.lowering.pattern(node), where=self.where)

    def symbol(self, name: str, is_terminal: bool) -> Node:
        return self.lowering.terminal(name)

    def sequence(self, values: list[Node]) -> Node:
        return self.builder.sequence(values)

    def choice(self, values: list[Node]) -> Node:
        return self.builder.choice(values)

    def repeat(self, value: Node, least: int, most: int | None) -> Node:
        return self.builder.repeat(value, least, most)

    def template(self, name: str, values: list[Node]) -> Node:
        raise GrammarError(
            f"template {name!r} inside {self.where}: templates are rules", code="grammar.template"
        )


class _RuleFold(_TerminalFold):
    """The body of a rule: as a terminal, with what is ignored after each terminal, and names of rules."""

    def __init__(self, lowering: _Lowering, env: Mapping[str, Node]) -> None:
        super().__init__(lowering, "a rule")
        self.env = env

    def pattern(self, node: Any) -> Node:
        pattern = self.lowering.pattern(node)
        lazy = lazy_terminal(self.builder, [pattern], where=self.where)
        return self.lowering.then_ignored(
            lower_pattern(self.builder, pattern, where=self.where) if lazy is None else lazy
        )

    def symbol(self, name: str, is_terminal: bool) -> Node:
        bound = self.env.get(name)
        return self.lowering.symbol(name, is_terminal) if bound is None else bound

    def template(self, name: str, values: list[Node]) -> Node:
        return self.lowering.instance(name, tuple(values))


class _TextFold(_Fold[str]):
    """A terminal as the text of one regular expression, for parts that see their neighbours."""

    def pattern(self, node: Any) -> str:
        pattern = self.lowering.pattern(node)
        if pattern.kind == "range":
            return f"[{re.escape(pattern.text[0])}-{re.escape(pattern.text[1])}]"
        return pattern.as_regex()

    def sequence(self, values: list[str]) -> str:
        return self._bounded("".join(values))

    def choice(self, values: list[str]) -> str:
        return values[0] if len(values) == 1 else self._bounded(f"(?:{'|'.join(values)})")

    def repeat(self, value: str, least: int, most: int | None) -> str:
        return f"(?:{value}){{{least},{'' if most is None else most}}}"

    def _bounded(self, text: str) -> str:
        if len(text) > MAX_JOINED:
            raise LimitError(
                f"{self.where} is a regular expression of more than {MAX_JOINED} characters",
                limit="grammar_pattern",
                value=MAX_JOINED,
            )
        return text
