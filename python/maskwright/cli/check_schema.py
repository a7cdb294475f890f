"""`maskwright check`: what becomes of each keyword of a schema?"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

from maskwright.cli.schema_options import add_schema_arguments, read_schema
from maskwright.json_schema import check_schema


def add_to(commands: Any) -> None:
    """Declare this command."""
    parser = commands.add_parser(
        "check",
        help="say which keywords of a JSON Schema are enforced, refused or annotations",
        description="Print each keyword of a JSON Schema with its place and what becomes of it. "
        "The exit code is 1 if the schema would be refused.",
    )
    add_schema_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the report."""
    text, options = read_schema(arguments)
    report = check_schema(text, **options)
    if arguments.json:
        error = None if report.error is None else str(report.error)
        findings = [asdict(finding) for finding in report.findings]
        print(json.dumps({"enforced": report.is_enforced, "error": error, "findings": findings}))
    else:
        print(report)
    return 0 if report.is_enforced else 1
