"""Mutants of the suite `jsonl_fork_strictness`."""

from __future__ import annotations

from tests.mutants.source_lies import SourceLie


class UsageDoesNotMatter(SourceLie):
    """Lie: usage rows are not looked at, as no fork copies one."""

    kills = "S-JSONL-FORK-04"
    file = "index.py"
    line = "                self._fold_usage(record)\n"
    lie = "                pass\n"


class OrphansAreRoots(SourceLie):
    """Lie: an entry whose parent is unknown counts as a root, and only the opening of the destination may object."""

    kills = "S-JSONL-FORK-04"
    file = "index.py"
    line = '            raise UnknownParent(entry.id, cast("str", entry.parent_id))\n'
    lie = "            parent = NONE\n"


class SequencesDoNotMatter(SourceLie):
    """Lie: sequences that do not rise are taken, as long as those of the destination do."""

    kills = "S-JSONL-FORK-04"
    file = "index.py"
    line = "            if record.seq <= self.last_seq:"
    lie = "            if record.seq == self.last_seq:"


class TotalsDoNotMatter(SourceLie):
    """Lie: spending that no total can hold is taken, as no fork adds it up."""

    kills = "S-JSONL-FORK-04"
    file = "index.py"
    line = '        self._usage = add_usage(self._usage, row.usage, "usage")\n'
    lie = ""


class LongLinesHaveOneParent(SourceLie):
    """Lie: a long line of entries is one path, whatever their parents are."""

    kills = "S-JSONL-FORK-04"
    file = "index.py"
    line = "parent_ids[1:] != ids[:-1] or "
    lie = ""


class LongLinesRise(SourceLie):
    """Lie: of a long line of entries only the first sequence is looked at."""

    kills = "S-JSONL-FORK-04"
    file = "index.py"
    line = "self.last_seq < seqs[0] and all(map(lt, seqs, seqs[1:]))"
    lie = "self.last_seq < seqs[0]"


class LongLinesHaveNewIds(SourceLie):
    """Lie: the ids of a long line of entries are not compared with those of the ledger."""

    kills = "S-JSONL-FORK-04"
    file = "index.py"
    line = " or not self._usage_ids.isdisjoint(ids)"
    lie = ""


class PassesOverDamage(SourceLie):
    """Lie: a line that cannot be decoded is passed over."""

    kills = "S-JSONL-FORK-04"
    file = "index.py"
    line = "            raise CorruptSession(self._path, number, str(cause)) from cause"
    lie = "            return"


class OpenSourcesAreTrusted(SourceLie):
    """Lie: a line of an open source that cannot be decoded is passed over: the session was read when it was opened."""

    kills = "S-JSONL-FORK-04"
    file = "index.py"
    line = "        except (LineFault, SessionStoreError) as cause:\n"
    lie = (
        "        except (LineFault, SessionStoreError) as cause:\n"
        "            if self._boundary is not None:\n"
        "                return\n"
    )


class TellsWhatACommitWouldTell(SourceLie):
    """Lie: a fault among ids and parents reaches the caller as what a commit would raise."""

    kills = "S-FORK-BR-11"
    file = "index.py"
    line = "        except (LineFault, SessionStoreError) as cause:\n"
    lie = "        except LineFault as cause:\n"


class CutsTransactionsAtTheBoundary(SourceLie):
    """Lie: a transaction may lie on both sides of the boundary."""

    kills = "S-JSONL-FORK-06"
    file = "index.py"
    line = "                _refuse_straddling(records, self._boundary)\n"
    lie = "                pass\n"


class TheBoundaryBelongsToTheSource(SourceLie):
    """Lie: the sequence of the boundary itself counts as below it."""

    kills = "S-JSONL-FORK-06"
    file = "index.py"
    line = "record.seq >= boundary for record in records"
    lie = "record.seq > boundary for record in records"


class EmptySourcesAreNoSources(SourceLie):
    """Lie: a source that is only a header cannot be forked."""

    kills = "S-JSONL-FORK-11"
    file = "fork.py"
    line = "    copies = learned.select()\n"
    lie = (
        "    if scan.number == 1:\n"
        '        raise SessionFileChanged(source.path, "it holds nothing")\n'
        "    copies = learned.select()\n"
    )


class EmptyLinesAreCorruption(SourceLie):
    """Lie: a line without writes is no transaction."""

    kills = "S-JSONL-FORK-11"
    file = "index.py"
    line = "            records = read_line(line)\n"
    lie = (
        "            records = read_line(line)\n"
        "            if not records:\n"
        '                raise LineFault("the transaction is empty")\n'
    )
