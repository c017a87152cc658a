"""Mutants of the suite `closing_midway`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class AClosedRepositoryHandsOutSessions(SourceLie):
    """Lie: a session that was opened while its repository was closed is handed out."""

    kills = "S-REPO-24"
    file = "repo.py"
    line = "try:\n            self._reservations.check_open()\n        except RepoClosed:"
    lie = "try:\n            assert opened\n        except RepoClosed:"
