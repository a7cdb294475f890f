"""Which schema do the arguments name, and how is it to be read? Shared by `check` and `explain`."""

from __future__ import annotations

import argparse
from typing import Any

from maskwright.cli.formats import read_text
from maskwright.errors import SchemaError
from maskwright.json_schema.schema_text import parse_json


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
    parser.add_argument(
        "--unknown-keywords",
        choices=("annotate", "error"),
        default="annotate",
        help="whether to refuse keywords that the draft does not know, misspelt ones among them",
    )


def read_schema(arguments: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """The schema and the options; `MaskwrightError` where there is no such file, or no JSON in it."""
    name = "standard input" if arguments.schema == "-" else arguments.schema
    text = read_text(arguments.schema, name)
    try:
        schema = parse_json(text)
    except SchemaError as error:
        error.what, error.try_ = f"{name}: {error.what}", None
        raise
    formats = "annotate" if arguments.annotate_formats else "enforce"
    return schema, {
        "draft": arguments.draft,
        "style": arguments.style,
        "formats": formats,
        "unknown_keywords": arguments.unknown_keywords,
    }
