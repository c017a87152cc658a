"""The refusals of section 2.6: exactly these classes, with exactly these attributes, and messages that help."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields
from typing import Any

import pytest

import forkstore
from forkstore.contract import errors
from forkstore.contract.errors import SessionStoreError

# The table of section 2.6, row by row: the class, and a value for each attribute in the table's order.
TABLE: dict[str, dict[str, Any]] = {
    "SessionExists": {"session_id": "walk-1"},
    "SessionNotFound": {"session_id": "walk-1", "path": "/srv/walk-1.jsonl"},
    "SessionInUse": {"session_id": "walk-1"},
    "SessionClosed": {"session_id": "walk-1"},
    "RepoClosed": {},
    "ForeignSession": {"session_id": "walk-1", "path": "/srv/walk-1.jsonl", "field": "cwd"},
    "UnsupportedVersion": {"path": "/srv/walk-1.jsonl", "version": 3},
    "CorruptSession": {"path": "/srv/walk-1.jsonl", "line": 7, "reason": "a line is no JSON text"},
    "SessionFileChanged": {"path": "/srv/walk-1.jsonl", "reason": "it is shorter than before"},
    "StoreIOError": {"operation": "append_file", "path": "/srv/walk-1.jsonl", "code": "no_space"},
    "DuplicateId": {"id": "e1"},
    "UnknownParent": {"entry_id": "e2", "parent_id": "e1"},
    "UnknownEntry": {"entry_id": "e1"},
    "UnknownBranch": {"name": "garden"},
    "BranchExists": {"name": "garden"},
    "InvalidBranchName": {"name": "a\0", "reason": "it holds U+0000"},
    "DataOnlyBranch": {"name": "garden"},
    "EntryNotOnBranch": {"entry_id": "e1", "branch": "garden"},
    "UndeclaredNamespace": {"namespace": "pi.unknown", "kind": "list"},
    "LegacySourceOpen": {"session_id": "walk-1"},
    "LegacyEntryId": {"session_id": "walk-1", "entry_id": "e1"},
    "InvalidForkOptions": {"field": "position", "reason": "is neither 'at' nor 'before'"},
    "InvalidAddress": {"field": "namespace", "reason": "is empty"},
    "InvalidValue": {"where": "writes[0].value", "reason": "is not a finite number"},
    "InvalidQuery": {"field": "limit", "reason": "is not an integer of at least 1"},
    "InvalidSessionId": {"session_id": "\ud800", "reason": "holds a lone surrogate"},
    "InvalidArgument": {"field": "cwd", "reason": "is not for this store"},
    "PendingMessage": {},
    "CommitAlreadyAttempted": {},
    "ScopeEnded": {},
}

# A wrong argument is told by its place and fault, damage by its place and nature. These have a way out to name.
WAYS_OUT = {
    "SessionExists": "choose another id",
    "SessionNotFound": "`list` shows",
    "SessionInUse": "close it first",
    "SessionClosed": "open it again",
    "RepoClosed": "build another one",
    "ForeignSession": "use metadata of this one",
    "DuplicateId": "mint another",
    "UnknownParent": "insert that entry first",
    "UnknownEntry": "name one that is stored",
    "UnknownBranch": "create it first",
    "BranchExists": "choose another name",
    "DataOnlyBranch": "only a lane can be forked by branch",
    "EntryNotOnBranch": "name an entry of its path",
    "UndeclaredNamespace": "delete it first",
    "LegacySourceOpen": "a non-empty commit must upgrade it",
    "PendingMessage": "wait until it is settled",
    "CommitAlreadyAttempted": "begin another scope",
    "ScopeEnded": "begin another scope",
}


def made(name: str) -> SessionStoreError:
    error = getattr(errors, name)(**TABLE[name])
    assert isinstance(error, SessionStoreError)
    return error


def attributes(error: SessionStoreError) -> dict[str, Any]:
    return {field.name: getattr(error, field.name) for field in fields(error)}


def test_the_classes_are_exactly_those_of_the_table() -> None:
    defined = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    assert defined == {*TABLE, "SessionStoreError"}
    assert {name for name in forkstore.__all__ if name in defined} == defined
    assert SessionStoreError.__bases__ == (Exception,)


@pytest.mark.parametrize("name", TABLE)
def test_a_class_carries_its_attributes_in_the_tables_order(name: str) -> None:
    """S-ERR-01."""
    error = made(name)
    assert list(attributes(error).items()) == list(TABLE[name].items())
    by_position = type(error)(*TABLE[name].values())
    assert attributes(by_position) == attributes(error)
    assert type(error).__bases__ == (SessionStoreError,)


@pytest.mark.parametrize("name", TABLE)
def test_a_message_names_what_was_refused(name: str) -> None:
    message = str(made(name))
    for value in TABLE[name].values():
        assert str(value) in message or repr(value) in message
    assert message
    assert "\n" not in message
    assert not message.endswith(".")


@pytest.mark.parametrize("name", WAYS_OUT)
def test_a_message_says_what_to_do(name: str) -> None:
    assert WAYS_OUT[name] in str(made(name))


@pytest.mark.parametrize("name", TABLE)
def test_an_error_survives_pickling_and_copying(name: str) -> None:
    error = made(name)
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is type(error)
        assert attributes(again) == attributes(error)
        assert str(again) == str(error)


@pytest.mark.parametrize("name", TABLE)
def test_a_repr_is_the_call_that_makes_it(name: str) -> None:
    error = made(name)
    again = eval(repr(error), vars(errors))
    assert attributes(again) == attributes(error)


def test_errors_are_equal_only_to_themselves() -> None:
    """Tests and callers compare attributes; an error in a set or a group keeps its identity."""
    assert made("RepoClosed") != made("RepoClosed")
    assert len({made("DuplicateId"), made("DuplicateId")}) == 2


def test_places_that_may_be_missing() -> None:
    assert "at" not in str(errors.SessionNotFound("walk-1")).split()
    assert "line" not in str(errors.CorruptSession("/srv/walk-1.jsonl", None, "the header is missing"))
