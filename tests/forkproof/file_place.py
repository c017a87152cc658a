"""A small place on the disk, one call of every file operation on it, and what stands there before, midway and after."""

import asyncio

from forkproof.instruments.file_faults import FileFaults
from forkproof.instruments.stepping import stepped
from tests.forkproof.plain_files import PlainFiles

LINES = b"tulip\nrose\ndaisy\n"

CALLS = {
    "exists": lambda files, at: files.exists(at("bed")),
    "file_info": lambda files, at: files.file_info(at("bed")),
    "list_dir": lambda files, at: files.list_dir(at("")),
    "make_dir": lambda files, at: files.make_dir(at("new-dir")),
    "remove_dir": lambda files, at: files.remove_dir(at("empty-dir")),
    "read_bytes": lambda files, at: files.read_bytes(at("bed"), 5),
    "read_all": lambda files, at: files.read_all(at("bed")),
    "open_line_reader": lambda files, at: files.open_line_reader(at("bed")),
    "write_file": lambda files, at: files.write_file(at("new"), b"12345678"),
    "append_file": lambda files, at: files.append_file(at("bed"), b"12345678"),
    "truncate_file": lambda files, at: files.truncate_file(at("bed"), 6),
    "rename_file": lambda files, at: files.rename_file(at("bed"), at("renamed")),
    "publish_file": lambda files, at: files.publish_file(at("bed"), at("published")),
    "remove_file": lambda files, at: files.remove_file(at("bed")),
    "sync_file": lambda files, at: files.sync_file(at("bed")),
    "sync_dir": lambda files, at: files.sync_dir(at("")),
}
"""One call of every operation but those of a reader, on the place below."""
AFTER = {
    "make_dir": {"bed": LINES, "empty-dir": None, "new-dir": None},
    "remove_dir": {"bed": LINES},
    "write_file": {"bed": LINES, "empty-dir": None, "new": b"12345678"},
    "append_file": {"bed": LINES + b"12345678", "empty-dir": None},
    "truncate_file": {"bed": b"tulip\n", "empty-dir": None},
    "rename_file": {"renamed": LINES, "empty-dir": None},
    "publish_file": {"published": LINES, "empty-dir": None},
    "remove_file": {"empty-dir": None},
}
"""What stands in the place after a call; the other operations change nothing."""
HALFWAY = {
    "write_file": {"bed": LINES, "empty-dir": None, "new": b"1234"},
    "append_file": {"bed": LINES + b"1234", "empty-dir": None},
    "truncate_file": {"bed": LINES[:12], "empty-dir": None},
}
BEFORE = {"bed": LINES, "empty-dir": None}


class Place:
    """A directory with a file of three lines and an empty directory, seen through faults."""

    def __init__(self, directory):
        self.directory = directory
        (directory / "bed").write_bytes(LINES)
        (directory / "empty-dir").mkdir()
        self.plain = PlainFiles()
        self.faults = FileFaults()
        self.files = self.faults.wrap(self.plain)

    def at(self, name):
        return str(self.directory / name)

    def call(self, name):
        return CALLS[name](self.files, self.at)

    @property
    def standing(self):
        return {
            one.name: None if one.is_dir() else one.read_bytes()
            for one in sorted(self.directory.iterdir(), key=lambda one: one.name)
        }

    def end(self, name):
        """Makes the call in a task of its own; gives its outcome. No reader may be left open by a call that failed."""

        async def run():
            outcome = await stepped(lambda: self.call(name))
            if outcome.kind == "returned" and name == "open_line_reader":
                await outcome.value.close()
            return outcome

        outcome = asyncio.run(run())
        assert all(reader.closed for reader in self.plain.readers)
        return outcome
