"""A grammar as text, for the message of a test that failed: one line a rule."""

# ruff: noqa: PLR0911 - dispatch on the kind of node
from __future__ import annotations

from oracles.earley import UNBOUNDED, Oracle


def show_grammar(grammar: object) -> str:
    """The rules, root first by name; `&` and `~` as in the IR."""
    oracle = Oracle(grammar)
    names = grammar.names  # type: ignore[attr-defined]
    rows = [f"{name} = {_node(oracle, names, body)}" for name, body in zip(names, oracle.rules, strict=True)]
    return "\n".join([f"root: {names[grammar.root]}", *rows])  # type: ignore[attr-defined]


def _node(oracle: Oracle, names: tuple[str, ...], node: int) -> str:
    op, args = oracle.ops[node], oracle.args[node]
    below = (
        [_node(oracle, names, part) for part in args] if op in ("sequence", "choice", "intersection") else []
    )
    if op == "sequence":
        return "(" + " ".join(below) + ")"
    if op == "choice":
        return "(" + " | ".join(below) + ")"
    if op == "intersection":
        return "(" + " & ".join(below) + ")"
    if op == "complement":
        return "~" + _node(oracle, names, args[0])
    if op == "repeat":
        high = "" if args[2] == UNBOUNDED else args[2]
        return f"{_node(oracle, names, args[0])}{{{args[1]},{high}}}"
    if op == "reference":
        return names[args[0]]
    if op == "special":
        return f"<[{args[0]}]>"
    text = oracle.blob[args[0] : args[0] + args[1]] if args else b""
    if op == "chars":
        points = [int.from_bytes(text[at : at + 4], "little") for at in range(0, len(text), 4)]
        return (
            "["
            + " ".join(f"{low:x}-{high:x}" for low, high in zip(points[::2], points[1::2], strict=True))
            + "]"
        )
    if op == "byte_class":
        return "{" + " ".join(f"{byte:02x}" for byte in range(256) if text[byte // 8] >> byte % 8 & 1) + "}"
    return f"{op}:{text!r}"
