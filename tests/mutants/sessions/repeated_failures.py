"""Mutants of the suite `repeated_failures`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie, SqlLie


class AFailedOpenKeepsItsReservation(SourceLie):
    """Lie: an open that fails while it reads holds on to the session."""

    kills = "S-OWN-09"
    file = "repo.py"
    line = "opened = await open_file(self._files, path, session_id, cwd, self._id_generator)"
    lie = (
        "reservation._kept = True\n"
        "        opened = await open_file(self._files, path, session_id, cwd, self._id_generator)\n"
        "        reservation._kept = False"
    )


class AReservationIsReleasedLater(SourceLie):
    """Lie: a delete that fails gives its reservation back a moment after its caller was told."""

    kills = "S-OWN-09"
    file = "repo.py"
    line = "await self._remove(named)"
    lie = (
        "try:\n"
        "                await self._remove(named)\n"
        "            except BaseException:\n"
        "                loop, again = __import__('asyncio').get_running_loop(), SessionInUse(named.id)\n"
        "                loop.call_soon(self._reservations.release, named.key)\n"
        "                self._reservations.release(named.key)\n"
        "                self._reservations.reserve(named.key, again)._kept = True\n"
        "                self._reservations.release = lambda key: None\n"
        "                loop.call_soon(self._reservations.__dict__.pop, 'release')\n"
        "                raise"
    )


class TheSecondFailureKeepsTheId(SourceLie):
    """Lie: two publications of one id that failed leave it taken."""

    kills = "S-FORK-FAIL-04"
    file = "publishing.py"
    line = "await settled(self._take_back())"
    lie = (
        "await settled(self._take_back())\n"
        "            id = self.path.rpartition('_')[2]\n"
        "            failed = globals().setdefault('FAILED', [])\n"
        "            failed.append(id)\n"
        "            if failed.count(id) == 2:\n"
        "                await self._files.write_file(self.path, b'')"
    )


class PublishedSessionsStayWhenTheyAreCancelled(SourceLie):
    """Lie: a session that was cancelled behind its publication stays."""

    kills = "S-FORK-FAIL-05"
    file = "publishing.py"
    line = "if self._published is not None and await self._is_there(self._published):"
    lie = "if self._published is self:"


class AFailedOpenKeepsTheSession(SqlLie):
    """Lie: a session whose opening failed stays reserved."""

    kills = "S-OWN-09"
    file = "repo.py"
    line = """        with self._reservations.reserve(key, SessionInUse(metadata.id)) as reservation:
"""
    lie = """        if reservation := self._reservations.reserve(key, SessionInUse(metadata.id)):
"""
