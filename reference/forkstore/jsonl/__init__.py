"""Sessions in files of JSON lines: format 4, with legacy version 3 read and upgraded (spec sections 22 to 26)."""

from .files import LocalFiles
from .repo import JsonlSessionRepo

__all__ = ["JsonlSessionRepo", "LocalFiles"]
