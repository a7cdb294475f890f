"""What does one hostile schema cost? Compiles it in this process and makes the first mask, or reports on it;
prints the answer as JSON.

    python hostile_schema_run.py NAME STYLE     a style, or "check"

The answer: `end` ("result" or the code of the error), `seconds` of this process's own time, `megabytes`
above what it held before.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import maskwright as mw
from peak import peak_bytes

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from oracles.hostile_schemas import HOSTILE, REGISTRIES

MOST_SECONDS = 30


def main(name: str, style: str) -> None:
    """Run one case."""
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    tokens = [*(bytes([byte]) for byte in range(256)), None]
    compiler = mw.Compiler(mw.Vocabulary.from_tokens(tokens, eos_id=256), cache_bytes=0)
    compiler.json_schema({"type": "object"}).constraint().mask()
    schema, registry = HOSTILE[name](), REGISTRIES.get(name, dict)()
    before = peak_bytes()
    begin = time.process_time()
    try:
        if style == "check":
            mw.check_schema(schema, registry=registry)
        else:
            compiler.json_schema(schema, style=style, registry=registry).constraint().mask()  # type: ignore[arg-type]
        end = "result"
    except mw.InternalError:
        raise
    except mw.MaskwrightError as error:
        end = error.code
    seconds = time.process_time() - begin
    megabytes = (peak_bytes() - before) / 2**20
    print(json.dumps({"end": end, "seconds": seconds, "megabytes": megabytes}))


if __name__ == "__main__":
    main(*sys.argv[1:])
