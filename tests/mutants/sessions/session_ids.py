"""Mutants of the suite `session_ids`."""

from __future__ import annotations

import unicodedata
from typing import Any

from forkstore.contract.store import SessionMetadata
from forkstore.contract.text import has_lone_surrogate
from forkstore.session import Session
from tests.mutants.catalogue import Mutant


class TrimsIds(Mutant):
    """Lie: blanks around an id are removed."""

    kills = "S-REPO-03"

    async def create(self, *, id: str | None = None, **options: Any) -> Session:
        return await super().create(id=id.strip() if isinstance(id, str) else id, **options)


class FoldsCase(Mutant):
    """Lie: ids that differ in case only name one session."""

    kills = "S-REPO-03"

    def _reserve_new(self, session_id: str) -> Any:
        known = next((one for one in self._sessions if one.lower() == session_id.lower()), session_id)
        return super()._reserve_new(known)


class NormalisesIds(Mutant):
    """Lie: ids are kept in Unicode normal form C."""

    kills = "S-REPO-03"

    def _new_metadata(self, session_id: str | None, parent_session_id: str | None) -> SessionMetadata:
        normal = unicodedata.normalize("NFC", session_id) if isinstance(session_id, str) else session_id
        return super()._new_metadata(normal, parent_session_id)


class MeasuresIdsInCodePoints(Mutant):
    """Lie: an id may have 200 code points, whatever its encoded form."""

    kills = "S-REPO-04"

    def _new_metadata(self, session_id: str | None, parent_session_id: str | None) -> SessionMetadata:
        if isinstance(session_id, str) and not has_lone_surrogate(session_id) and len(session_id) <= 200:
            created_at = self._clock.read()
            return SessionMetadata(id=session_id, created_at=created_at, parent_session_id=parent_session_id)
        return super()._new_metadata(session_id, parent_session_id)


class WritesNumbersAsIds(Mutant):
    """Lie: an id that is not a string is turned into one."""

    kills = "S-REPO-04"

    async def create(self, *, id: Any = None, **options: Any) -> Session:
        return await super().create(id=None if id is None else str(id), **options)
