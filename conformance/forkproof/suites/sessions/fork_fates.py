"""The table of section 16, written from the contract's text: what becomes of a row, by namespace and kind.

It shares nothing with the store's classifier nor with the oracle's, so that one misreading does not hide behind
another.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

Fate = Literal["copy", "copy with its entry", "tip", "configuration", "state", "drop", "fail", "application"]

DECLARED: dict[str, tuple[Fate, Fate]] = {
    "pi.session.name": ("copy", "fail"),
    "pi.entry.label": ("copy with its entry", "fail"),
    "pi.branch.tip": ("tip", "fail"),
    "pi.lane.config": ("configuration", "fail"),
    "pi.lane.state": ("state", "fail"),
    "pi.result": ("drop", "fail"),
    "pi.op.meta": ("drop", "drop"),
    "pi.op.state": ("drop", "drop"),
    "pi.op.tool_args": ("drop", "drop"),
    "pi.op.tool_memo": ("drop", "drop"),
    "pi.op.preparation": ("drop", "drop"),
    "pi.pending.entry": ("drop", "drop"),
    "pi.pending.tool_output": ("drop", "drop"),
    "pi.pending.assistant_frame": ("drop", "drop"),
}
"""The fourteen built-in namespaces: the fate of a scalar, and of a list element."""

WORK = ("pi.op.", "pi.op.x", "pi.op.meta.x", "pi.op.Meta", "pi.pending.", "pi.pending.x", "pi.pending.entry.x")
"""Names that only start like operation rows or pending work; they are dropped like them."""

FAILING = (
    *("pi", "pi.", "pi.unknown", "pi.op", "pi.pending", "pi.results", "pi.result.x", "pi.session"),
    *("pi.session.name.x", "pi.entry", "pi.branch", "pi.lane"),
    *("pi..", "pi.Op.meta", "pi.opx", "pi.pendings", "pi.session.Name", "pi.branch.tip.x", "pi.branch.tips"),
    *("pi.lane.state.x", "pi.lane.configs", "pi.entry.labels", "pi.result ", "pi.pi.op.meta"),
)
"""Reserved names without a declaration; the first two lines are those that the contract lists."""

APPLICATIONS = (
    *("pi2.events", "pip.x", "PI.x", "pi/x", "pi:x", "pi-x"),
    *("Pi", "PI", "Pi.session.name", "p", "pI.op.meta", " pi", "pi ", "xpi.op.meta", "garden.pi.op.x", "π.x"),
    "\uff50\uff49.x",  # `pi` in full width, which some normal forms fold
)
"""Names that only look reserved; the first line are those that the contract lists."""

TABLE: dict[str, tuple[Fate, Fate]] = {
    **DECLARED,
    **dict.fromkeys(WORK, ("drop", "drop")),
    **dict.fromkeys(FAILING, ("fail", "fail")),
    **dict.fromkeys(APPLICATIONS, ("application", "application")),
}


def named(namespaces: Iterable[str]) -> dict[str, object]:
    """Rows by a name that can be part of a case's id."""
    signs = {
        "/": "-slash-",
        ":": "-colon-",
        " ": "-blank-",
        "π": "-greek-",
        "_": "-",
        "\uff50": "-wide-p",
        "\uff49": "i",
    }
    return {"".join(signs.get(sign, sign) for sign in namespace): namespace for namespace in namespaces}
