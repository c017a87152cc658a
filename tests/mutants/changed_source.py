"""A package loaded anew under a name of its own, from the files of another, with some of their text changed.

The other package stays as it is and is not loaded for this. Modules and data files (`importlib.resources`) are both
served changed, so that a lie can be told about a schema as well as about code.
"""

from __future__ import annotations

import importlib
import io
import sys
import zipfile
from collections.abc import Callable, Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.resources.abc import Traversable, TraversableResources
from importlib.util import find_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

Change = Callable[[str, str], str]
"""Gives the text that stands for a file: called with its path inside the package and its own text."""


def load_changed(original: str, package: str, change: Change) -> ModuleType:
    """The package `original`, changed, under the name `package`; loaded once. Its own absolute imports follow."""
    if package in sys.modules:
        return sys.modules[package]
    finder = _ChangingFinder(original, package, change)
    sys.meta_path.insert(0, finder)
    try:
        return importlib.import_module(package)
    finally:
        sys.meta_path.remove(finder)


class _ChangingFinder(MetaPathFinder, InspectLoader):
    """Finds the modules of one changed package, and loads them from the files of the original."""

    def __init__(self, original: str, package: str, change: Change) -> None:
        self._original = original
        self._package = package
        self._change = change
        self._root = _folder_of(original)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._package and not fullname.startswith(f"{self._package}."):
            return None
        return spec_from_loader(fullname, self, is_package=self.is_package(fullname))

    def is_package(self, fullname: str) -> bool:
        return self._place(fullname).is_dir()

    def get_source(self, fullname: str) -> str:
        place = self._place(fullname)
        source = self.changed(place / "__init__.py" if place.is_dir() else place.with_suffix(".py"))
        return source.replace(self._original, self._package)

    def get_resource_reader(self, fullname: str) -> TraversableResources:
        return _ChangedData(self, self._place(fullname))

    def changed(self, path: Path) -> str:
        """The text of a file of the package with the change in it."""
        return self._change(path.relative_to(self._root).as_posix(), path.read_text(encoding="utf-8"))

    def _place(self, fullname: str) -> Path:
        return self._root.joinpath(*fullname.removeprefix(self._package).split(".")[1:])


class _ChangedData(TraversableResources):
    """The data files of one folder of the package, as `importlib.resources.files` gives them."""

    def __init__(self, finder: _ChangingFinder, folder: Path) -> None:
        self._finder = finder
        self._folder = folder

    def files(self) -> Traversable:
        archive = zipfile.ZipFile(io.BytesIO(), "w")
        for path in self._folder.iterdir():
            if path.is_file() and path.suffix != ".py":
                archive.writestr(path.name, self._finder.changed(path))
        return zipfile.Path(archive)


def _folder_of(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise LookupError(f"there is no package {package}")
    return Path(spec.origin).parent
