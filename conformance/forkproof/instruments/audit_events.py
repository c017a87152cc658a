"""What Python's audit events say of files: which of them change something, at which paths, in words."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

Place = tuple[Any, Any]
"""A path or a descriptor, and the descriptor of the directory that the path is relative to, as events carry them."""

_WRITING: Final = ("O_WRONLY", "O_RDWR", "O_APPEND", "O_CREAT", "O_TRUNC")
_WORKING_DIRECTORY: Final = -1


@dataclass(frozen=True)
class Change:
    """What an event does to which places.

    `takes_along` says that what lies beneath a place goes with it; `makes_only` that nothing which stands is changed.
    """

    what: str
    places: tuple[Place, ...]
    takes_along: bool = False
    makes_only: bool = False


def change_of(event: str, arguments: tuple[Any, ...]) -> Change | None:
    """The change that an audit event announces; None for an event that changes nothing.

    >>> change_of("os.rename", ("a", "b", -1, -1)).what
    "renamed 'a' to 'b'"
    """
    read = _EVENTS.get(event)
    # More arguments than are read here may come with a newer Python, and missing ones count as absent.
    return None if read is None else read(*(*arguments, *(None,) * 4)[:4])


def _opened(path: Any, mode: Any, flags: Any, _: Any) -> Change | None:
    names = [name for name in _WRITING if isinstance(flags, int) and flags & getattr(os, name)]
    if not names and not (isinstance(mode, str) and set(mode) & set("wax+")):
        return None
    return Change(f"opened for writing ({' | '.join(names) or mode}): {_said(path)}", ((path, _WORKING_DIRECTORY),))


def _renamed(path: Any, target: Any, directory: Any, target_directory: Any) -> Change:
    places = ((path, directory), (target, target_directory))
    return Change(f"renamed {_said(path)} to {_said(target)}", places, takes_along=True)


def _linked(path: Any, target: Any, directory: Any, target_directory: Any) -> Change:
    return Change(f"linked {_said(path)} as {_said(target)}", ((path, directory), (target, target_directory)))


def _symlinked(path: Any, link: Any, directory: Any, _: Any) -> Change:
    return Change(f"made the link {_said(link)} to {_said(path)}", ((link, directory),))


def _removed(path: Any, directory: Any, *_: Any) -> Change:
    return Change(f"removed {_said(path)}", ((path, directory),))


def _removed_tree(path: Any, directory: Any, *_: Any) -> Change:
    return Change(f"removed with all in it: {_said(path)}", ((path, directory),), takes_along=True)


def _made_directory(path: Any, _mode: Any, directory: Any, _: Any) -> Change:
    return Change(f"made the directory {_said(path)}", ((path, directory),), makes_only=True)


def _changed(what: str, directory_at: int | None = None) -> Callable[..., Change]:
    """A reader of events that name one path first, and at `directory_at` the directory it is relative to."""

    def read(*arguments: Any) -> Change:
        directory = _WORKING_DIRECTORY if directory_at is None else arguments[directory_at]
        return Change(f"{what} {_said(arguments[0])}", ((arguments[0], directory),))

    return read


def _said(path: Any) -> str:
    return f"descriptor {path}" if isinstance(path, int) else repr(path if isinstance(path, str) else _decoded(path))


def _decoded(path: Any) -> str:
    return os.fsdecode(path) if isinstance(path, bytes | os.PathLike) else type(path).__name__


_EVENTS: Final[Mapping[str, Callable[..., Change | None]]] = {
    "open": _opened,
    "os.rename": _renamed,
    "os.link": _linked,
    "os.symlink": _symlinked,
    "os.remove": _removed,
    "os.rmdir": _removed,
    "os.mkdir": _made_directory,
    "os.truncate": _changed("cut"),
    "os.utime": _changed("set the times of", 3),
    "os.chmod": _changed("changed the mode of", 2),
    "os.chown": _changed("changed the owner of", 3),
    "os.chflags": _changed("changed the flags of"),
    "os.setxattr": _changed("set an attribute of"),
    "os.removexattr": _changed("removed an attribute of"),
    "shutil.rmtree": _removed_tree,
}
