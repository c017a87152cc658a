"""A small database on the disk, seen through faults: what its tests do with it, and what lies there afterwards."""

import asyncio
import contextlib
from concurrent.futures import ThreadPoolExecutor

import apsw

from forkproof.instruments.sql_faults import SqlFaults
from forkproof.instruments.sqlite_shim import BASE_VFS


def connect(path, mode):
    """What a store brings along: it knows nothing of any layer."""
    flags = {
        "create": apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_READWRITE,
        "read-write": apsw.SQLITE_OPEN_READWRITE,
        "read-only": apsw.SQLITE_OPEN_READONLY,
    }
    connection = apsw.Connection(path, flags=flags[mode])
    try:
        connection.set_busy_timeout(5_000)
        if mode != "read-only":
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
    except apsw.Error:
        with contextlib.suppress(apsw.Error):
            connection.close()
        raise
    return connection


class SqlPlace:
    """A database of three beds in `garden.sqlite`; `stored` reads past the faults."""

    def __init__(self, directory):
        self.directory = directory
        self.path = str(directory / "garden.sqlite")
        self.faults = SqlFaults()
        self.connect = self.faults.wrap(connect)
        self._thread = ThreadPoolExecutor(1)
        plain = connect(self.path, "create")
        plain.execute("CREATE TABLE beds (name)")
        plain.execute("INSERT INTO beds VALUES ('tulip'), ('rose'), ('daisy')")
        plain.close()

    def add(self, name):
        """One commit on a connection of its own, which is closed whatever came of it."""
        connection = self.connect(self.path, "read-write")
        try:
            connection.execute("INSERT INTO beds VALUES (?)", (name,))
        finally:
            connection.close()

    async def added(self, name):
        """The same in a thread, as a store does it: a cancelled caller waits for its end."""
        running = asyncio.get_running_loop().run_in_executor(self._thread, self.add, name)
        try:
            await asyncio.shield(running)
        except asyncio.CancelledError:
            await asyncio.wait([running])
            running.exception()
            raise

    def stored(self):
        connection = apsw.Connection(self.path, vfs=BASE_VFS)
        try:
            return [name for (name,) in connection.execute("SELECT name FROM beds")]
        finally:
            connection.close()

    def names(self):
        """Every file of the directory."""
        return sorted(path.name for path in self.directory.iterdir())

    def close(self):
        self._thread.shutdown()
        self.faults.release()
