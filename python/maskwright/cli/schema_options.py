"""Which schema do the arguments name, and how is it to be read? Shared by `check` and `explain`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from maskwright.cli.formats import BadInput


def add_schema_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare SCHEMA and the options of the front end."""
    parser.add_argument("schema", metavar="SCHEMA", help="a file with a JSON Schema, or - for standard input")
    parser.add_argument("--draft", choices=("4", "6", "7", "2019-09", "2020-12"), help="default: by $schema")
    parser.add_argument(
        "--style",
        choices=("generate", "accept"),
        default="generate",
        help="what a model should write, or all that is valid",
    )
    parser.add_argument(
        "--annotate-formats",
        action="store_true",
        help='take "format" for an annotation, as the standard does',
    )


def read_schema(arguments: argparse.Namespace) -> tuple[bytes, dict[str, Any]]:
    """The schema's text and the options; `BadInput` where there is no such file."""
    name = "standard input" if arguments.schema == "-" else arguments.schema
    try:
        text = sys.stdin.buffer.read() if arguments.schema == "-" else Path(arguments.schema).read_bytes()
    except OSError as error:
        raise BadInput(f"{name}: cannot be read", why=error.strerror) from None
    except ValueError as error:  # a NUL in the name
        raise BadInput(f"{name!r}: not a file name", why=str(error)) from None
    formats = "annotate" if arguments.annotate_formats else "enforce"
    return text, {"draft": arguments.draft, "style": arguments.style, "formats": formats}
