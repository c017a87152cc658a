"""Strategies of text, and of the names that are made of it: keys, namespaces, addresses, ids (spec section 4)."""

from __future__ import annotations

from collections.abc import Collection
from itertools import count
from operator import add
from typing import Final, Literal, get_args

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from forkgen.recipes.reserved import SCALARS_ONLY, UNDECLARED
from forkgen.recipes.scalars import LOOK_ALIKES, ODD_KEYS
from forkgen.recipes.unicode import TEXTS
from forkstore.contract.addresses import BUILT_IN_ADDRESSES, Address, Kind, is_reserved

from .sharing import built_once

Reserved = Literal["none", "declared", "any"]
"""How far names go into the reserved namespaces: not at all; into those that a fork has a rule for; everywhere."""

_CHARACTERS: Final = st.characters(codec="utf-8")
_KEY_TEXT: Final = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
_PREFIXES: Final = ("", "a", "a:", "a:b", "ab", "a:b:c", "a\uffffb")
_APPLICATIONS: Final = ("app", "app.x", *LOOK_ALIKES)
WORK: Final = (
    *(namespace for namespace, _ in BUILT_IN_ADDRESSES if namespace.startswith(("pi.op.", "pi.pending."))),
    "pi.op.",
    "pi.pending.x",
)
"""Namespaces of operations and pending work, which hold scalars and lists alike; also some that are not built in."""


def texts() -> SearchStrategy[str]:
    r"""Text that a payload or an id may hold: no lone surrogates, but U+0000, U+2028, controls, and every plane.

    >>> find(texts(), lambda text: True)
    ''
    >>> find(texts(), lambda text: "\0" in text)
    '\x00'
    """
    return _texts()


def keys() -> SearchStrategy[str]:
    """Keys: empty, with colons, prefixes of one another, of every Unicode plane, any text (S-ADDR-02).

    >>> find(keys(), lambda key: True)
    ''
    >>> find(keys(), lambda key: ":" in key)
    'a:'
    """
    return _keys()


def namespaces(reserved: Reserved = "none") -> SearchStrategy[str]:
    """Namespaces: names that only look reserved, any text that is not empty, and as many reserved ones as asked for.

    >>> find(namespaces(), lambda namespace: True)
    'app'
    >>> find(namespaces("declared"), is_reserved)
    'pi.branch.tip'

    Raises ValueError for another word.
    """
    return _namespaces(_checked(reserved), "value")


def addresses(kind: Kind | None = None, *, reserved: Reserved = "none") -> SearchStrategy[Address]:
    """Addresses of a kind, or of both. With "declared" none of them makes a fork fail: lists stand in the namespaces of
    work only (spec section 16).

    >>> find(addresses(), lambda address: True)
    Address(namespace='app', key='', kind='value')

    Raises ValueError for another word.
    """
    return _addresses(kind, _checked(reserved))


@built_once
def undeclared_addresses(kind: Kind) -> SearchStrategy[Address]:
    """Addresses whose rows fail every fork: undeclared namespaces, and lists where only scalars belong."""
    return st.builds(Address, st.sampled_from(_UNDECLARED[kind]), keys(), st.just(kind))


def session_ids(taken: Collection[str] = ()) -> SearchStrategy[str]:
    """Ids for sessions that every reference backend takes, short of any limit (S-REPO-04), none of them `taken`.

    >>> find(session_ids(taken={"fork"}), lambda id: True)
    'fork-1'
    """
    plain = [name for name in ("fork", "fork-1", "Fork", "a b", "a/b", "..", "été") if name not in taken]
    short = st.text(_CHARACTERS, min_size=1, max_size=8).filter(lambda name: name not in taken)
    return st.one_of(st.sampled_from(plain), short) if plain else short


def draw_fresh_id(draw: DrawFn, taken: Collection[str], stem: str) -> str:
    """An entry or usage id that nothing has yet: the first free one of the stem, or any text (S-ENT-06)."""
    if draw(st.booleans()) and (text := draw(texts())) not in taken:
        return text
    return next(name for number in count() if (name := f"{stem}{number}") not in taken)


_UNDECLARED: Final[dict[Kind, tuple[str, ...]]] = {"value": UNDECLARED, "list": (*UNDECLARED, *SCALARS_ONLY)}


@built_once
def _texts() -> SearchStrategy[str]:
    return st.one_of(st.text(_CHARACTERS), st.sampled_from(TEXTS))


@built_once
def _keys() -> SearchStrategy[str]:
    return st.one_of(
        st.sampled_from(_PREFIXES),
        st.sampled_from(ODD_KEYS),
        st.builds(add, st.sampled_from(_PREFIXES), st.sampled_from(ODD_KEYS)),
        _KEY_TEXT,
    )


@built_once
def _applications() -> SearchStrategy[str]:
    anything = _KEY_TEXT.filter(lambda text: text != "" and not is_reserved(text))
    return st.one_of(st.sampled_from(_APPLICATIONS), anything)


def _checked(reserved: Reserved) -> Reserved:
    if reserved not in get_args(Reserved):
        raise ValueError(f"reserved is {reserved!r}, which is none of {', '.join(get_args(Reserved))}")
    return reserved


@built_once
def _addresses(kind: Kind | None, reserved: Reserved) -> SearchStrategy[Address]:
    if kind is None:
        return st.one_of(_addresses("value", reserved), _addresses("list", reserved))
    return st.builds(Address, _namespaces(reserved, kind), keys(), st.just(kind))


@built_once
def _namespaces(reserved: Reserved, kind: Kind) -> SearchStrategy[str]:
    """Namespaces of a kind of rows; for lists the declared ones are those of work."""
    if reserved == "none":
        return _applications()
    declared = st.sampled_from((*SCALARS_ONLY, *WORK) if kind == "value" else WORK)
    if reserved == "declared":
        return st.one_of(_applications(), declared)
    return st.one_of(_applications(), declared, st.sampled_from(_UNDECLARED[kind]))
