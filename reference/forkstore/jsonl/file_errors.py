"""What the operating system refuses, as failures of the file capability (spec section 2.5)."""

from __future__ import annotations

from types import TracebackType

from forkstore.contract.files import FileError
from forkstore.system_errors import code_of


class FileErrors:
    """Raises what the operating system refuses inside a `with` block as a FileError about a path."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, (OSError, ValueError)):
            raise FileError(code_of(error), self._path) from error
