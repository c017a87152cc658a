"""A long list on stdout, a line at a time: the first line does not wait for the last."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from forkgen.verdict import Verdict

_NAME_WIDTH = 46
_VERDICT_WIDTH = max(map(len, Verdict))


def print_listing(key: str, documents: Iterable[dict[str, Any]], *, as_json: bool) -> int:
    """Prints the documents as lines, or as one JSON document with a list under `key`; gives their number."""
    count = 0
    for document in documents:
        if as_json:
            before = "," if count else f'{{"{key}": ['
            print(f"{before}\n {json.dumps(document)}", end="")
        else:
            print(_line(document))
        count += 1
    if as_json and count:
        print("\n]}")
    return count


def _line(document: dict[str, Any]) -> str:
    verdict = document["verdict"]
    if document["line"] is not None:
        verdict += f", line {document['line']}"
    if document["version"] is not None:
        verdict += f", version {document['version']}"
    return f"{document['name']:<{_NAME_WIDTH}} {verdict:<{_VERDICT_WIDTH}} {' '.join(document['clauses'])}"
