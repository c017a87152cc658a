"""Legacy files of version 3, read and never written: what they say, in the records of format 4 (spec section 26).

A file is read in two passes over the same complete lines, which opening, upgrading and forking share. `LegacyIndex`
takes the first: it checks everything and keeps structure only, because a fork may hold no payload. `LegacyTexts` takes
the second: it gives each retained record's text, and holds no more messages than later retained tails still need.

The rooms: `records` reads one line, `tree` knows where records stand and what has become of them, `index` is the first
pass, `derived` the values behind the entries, `imported_usage` the statistics, `texts` the second pass, `tails` the
retained tails in it, `writing` the JSON text of what was read.
"""

from .derived import DerivedWrite
from .index import LegacyIndex
from .texts import LegacyTexts
from .tree import LegacyEntry

__all__ = ["DerivedWrite", "LegacyEntry", "LegacyIndex", "LegacyTexts"]
