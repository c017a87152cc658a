"""An inspection as one JSON document, for programs.

Schema 1, member by member. Sizes are bytes, times Unix milliseconds. Within one version members are only added.

    forkstore_inspect       1, the version of this schema
    path, size              of the file
    opens                   whether a store opens it: there is no error among the findings
    format                  4 or 3, or what else the header claims; null when it claims nothing
    storageVersion          of the header; 1 for legacy version 3; null when there is none
    lines                   complete lines, header included; null when the file does not begin like a session
    largestLine             null, or {line, bytes}: the first of the largest ones, without its LF
    tornTail                bytes behind the last LF; null when `lines` is
    header                  null when it is broken, else {id, cwd, createdAt, parentSessionId, legacyParentSessionPath}
    contents                null when the lines behind the header could not be judged, else what was read of them:
      nextSeq                 the sequence of the next write
      entries                 {count, messages, byType: {type: count}, roots, unreachable}
      branches                [{name, tip, kind: "lane" or "data-only", entries: on its path}]
      scalars                 {namespace: current scalars}
      lists                   {namespace: {lists, elements}}
      usage                   {rows, sum: usage object}; of a legacy file the usage of its records, and no rows
      records                 {count, dead, supersededSets, deletedRows, deletes, discarded}: the three behind `dead`
                              add up to it; `discarded` counts records of a legacy file that become no entry
    treeFork                {possible, undeclared: [{namespace, kind: "value" or "list"}]}
    errors, notes           how many findings there are of each severity
    findings                [{severity: "error" or "note", kind, line, reason, cause}], by line; `kind` is one of
                            `findings.Kind`, `line` may be null, `cause` is null or the error class of a commit that
                            does the same
    omitted                 how many findings are counted and not listed
"""

from __future__ import annotations

from typing import Final

from forkstore.contract.records import Record

from .facts import Contents, Inspection

SCHEMA: Final = 1


def document_of(inspection: Inspection) -> Record:
    """The document."""
    header, contents, findings = inspection.header, inspection.contents, inspection.findings
    largest = inspection.largest_line
    return {
        "forkstore_inspect": SCHEMA,
        "path": inspection.path,
        "size": inspection.size,
        "opens": inspection.opens,
        "format": inspection.format,
        "storageVersion": inspection.storage_version,
        "lines": inspection.lines,
        "largestLine": largest and {"line": largest[0], "bytes": largest[1]},
        "tornTail": inspection.torn_tail,
        "header": header
        and {
            "id": header.id,
            "cwd": header.cwd,
            "createdAt": header.created_at,
            "parentSessionId": header.parent_session_id,
            "legacyParentSessionPath": header.legacy_parent_session_path,
        },
        "contents": contents and _contents(contents),
        "treeFork": {
            "possible": inspection.tree_forks,
            "undeclared": [
                {"namespace": namespace, "kind": kind} for namespace, kind in (contents.undeclared if contents else [])
            ],
        },
        "errors": findings.errors,
        "notes": findings.notes,
        "findings": [
            {
                "severity": finding.severity,
                "kind": finding.kind,
                "line": finding.line,
                "reason": finding.reason,
                "cause": finding.cause,
            }
            for finding in findings.in_order()
        ],
        "omitted": findings.omitted,
    }


def _contents(contents: Contents) -> Record:
    dead = contents.dead
    return {
        "nextSeq": contents.next_seq,
        "entries": {
            "count": contents.entries,
            "messages": contents.messages,
            "byType": contents.entries_by_type,
            "roots": contents.roots,
            "unreachable": contents.unreachable,
        },
        "branches": [
            {
                "name": branch.name,
                "tip": branch.tip,
                "kind": "lane" if branch.is_lane else "data-only",
                "entries": branch.entries,
            }
            for branch in contents.branches
        ],
        "scalars": contents.scalars,
        "lists": {
            namespace: {"lists": lists.lists, "elements": lists.elements} for namespace, lists in contents.lists.items()
        },
        "usage": {"rows": contents.usage_rows, "sum": contents.usage},
        "records": {
            "count": contents.records,
            "dead": dead.total,
            "supersededSets": dead.superseded_sets,
            "deletedRows": dead.deleted_rows,
            "deletes": dead.deletes,
            "discarded": contents.discarded,
        },
    }
