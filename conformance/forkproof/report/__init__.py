"""The reports of a run: report.json, report.html, summary.md and badge.json, all from the same verdicts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from forkproof.report.badge import render_badge
from forkproof.report.document import render_json
from forkproof.report.html import render_html
from forkproof.report.markdown import render_markdown
from forkproof.verdict import Verdict


class ReportDirectoryError(Exception):
    """A report directory that cannot be written; the message is one line."""


def prepare_directory(directory: Path) -> None:
    """Makes the directory and proves, before a run is spent, that it can be written. Raises ReportDirectoryError."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise ReportDirectoryError(f"--report {directory}: cannot be written: {error.strerror}") from error


def write_reports(directory: Path, verdicts: Sequence[Verdict]) -> None:
    """Writes the four files, each whole or not at all. Raises ReportDirectoryError."""
    texts = {
        "report.json": render_json(verdicts),
        "report.html": render_html(verdicts),
        "summary.md": render_markdown(verdicts),
        "badge.json": render_badge(verdicts),
    }
    try:
        for name, text in texts.items():
            _replace(directory / name, text)
    except OSError as error:
        raise ReportDirectoryError(f"--report {directory}: cannot be written: {error.strerror}") from error


def _replace(path: Path, text: str) -> None:
    """A reader sees the old file or the new one, never a piece. Lone surrogates are written as question marks."""
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
