"""`maskwright explain`: where is the cost of a schema, and what does it force?"""

from __future__ import annotations

import argparse
from typing import Any

from maskwright.cli.numbers import at_least
from maskwright.cli.schema_options import add_schema_arguments, read_schema
from maskwright.cli.shown import table
from maskwright.json_schema.explain import Cost, Explanation, explain_schema


def add_to(commands: Any) -> None:
    """Declare this command."""
    parser = commands.add_parser(
        "explain",
        help="say where the cost of a JSON Schema is, and what it forces",
        description="Compile a JSON Schema and print the places whose automata are largest, what would "
        "make them smaller, and what every value of the schema has in common.",
    )
    add_schema_arguments(parser)
    parser.add_argument(
        "--top", type=at_least(1), default=10, metavar="N", help="places to list (default: 10)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print both tables."""
    text, options = read_schema(arguments)
    print(_shown(explain_schema(text, **options), arguments.top))
    return 0


def _shown(found: Explanation, top: int) -> str:
    lines = [
        f"time     {found.front_seconds * 1e3:.1f} ms from the schema to rules, "
        f"{found.native_seconds * 1e3:.1f} ms from rules to automata",
        f"rules    {len(found.costs):,}, {sum(cost.n_bytes for cost in found.costs):,} bytes",
        table(("Place", "States", "Bytes", "Cheaper"), _rows(found.costs[:top])),
    ]
    if found.inside:
        lines += ["", table(("String inside a place", "Alone", "Bytes", "By"), _rows(found.inside[:top]))]
    if found.forced:
        lines += ["", "forced", *(f"  {line}" for line in found.forced)]
    return "\n".join(lines)


def _rows(costs: tuple[Cost, ...]) -> list[tuple[str, ...]]:
    return [(cost.place, f"{cost.states:,}", f"{cost.n_bytes:,}", cost.hint) for cost in costs]
