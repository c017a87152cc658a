"""Mutants of the suite `sql_rows`."""

from __future__ import annotations

from tests.mutants.source_lies import SharedSqlLie, SqlLie


class EveryEntryHasACustomType(SqlLie):
    """Lie: the custom type of a message is an empty text."""

    kills = "S-SQL-SCH-03"
    file = "commits.py"
    line = "entry.custom_type,"
    lie = 'entry.custom_type or "",'


class ThePayloadRepeatsTheId(SqlLie):
    """Lie: the id stands in the payload too."""

    kills = "S-SQL-SCH-03"
    file = "rows.py"
    line = 'del fields["id"], fields["parentId"]'
    lie = 'del fields["parentId"]'


class ThePayloadIsSorted(SqlLie):
    """Lie: the fields of a payload are put into the order of their names."""

    kills = "S-SQL-SCH-03"
    file = "rows.py"
    line = "return _join(fields).decode()"
    lie = "return _join(dict(sorted(fields.items(), reverse=len(fields) == 3))).decode()"


class AForkGivesEveryEntryACustomType(SharedSqlLie):
    """Lie: a fork stores a custom type on every entry."""

    kills = "S-SQL-SCH-03"
    file = "publishing.py"
    line = "SELECT ?, id, parent_id, seq, type, custom_type,"
    lie = "SELECT ?, id, parent_id, seq, type, coalesce(custom_type, ''),"


class MessagesAreNotCounted(SqlLie):
    """Lie: the message count stays what it was."""

    kills = "S-SQL-SCH-04"
    file = "commits.py"
    line = "                    placement.message_count,"
    lie = "                    session.message_count,"


class TheUsageStays(SqlLie):
    """Lie: the usage of the session is left as it was."""

    kills = "S-SQL-SCH-04"
    file = "commits.py"
    line = "session.usage_text if same_usage else"
    lie = "session.usage_text if True else"


class ADeleteTakesNoSequence(SqlLie):
    """Lie: a commit that ends with a delete leaves the next sequence one lower."""

    kills = "S-SQL-SCH-04"
    file = "commits.py"
    line = "placement.seqs.stop,"
    lie = "placement.seqs.stop - (getattr(writes[-1], 'text', b'') is None),"


class AForkCountsAllEntries(SharedSqlLie):
    """Lie: the message count of a fork is that of its entries."""

    kills = "S-SQL-SCH-04"
    file = "publishing.py"
    line = "message_count=stage.messages"
    lie = "message_count=stage.entries"
