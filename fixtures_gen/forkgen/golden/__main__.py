"""Prints the digests of all recipes as they are now; standard output is the text of `digests.json`."""

from __future__ import annotations

import sys

from . import table

sys.stdout.write(table())
