"""The digest of a session's writes: BLAKE2b of 32 bytes over their canonical bytes, in hexadecimal.

Canonical bytes: for every transaction the number of its writes, and for every write the length of its text and the
text; numbers are 8 bytes, big-endian. The text is JSON of the contract's codec: the class of the write, then its entry
or row, or its namespace and key, and its value if it has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b

from forkstore.contract.codec import DEEPEST_WRITTEN, encode
from forkstore.contract.records import Json
from forkstore.contract.writes import EntryInsert, ListAppend, UsageInsert, ValueSet, Write

# Around a payload stand its message or retained tail, its entry, and the list of the canonical form.
_DEEPEST = DEEPEST_WRITTEN + 3


def digest(transactions: Iterable[Sequence[Write]]) -> str:
    """The digest; one transaction is held at a time.

    >>> digest([])
    '0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8'
    """
    hashed = blake2b(digest_size=32)
    for transaction in transactions:
        hashed.update(len(transaction).to_bytes(8, "big"))
        for write in transaction:
            text = encode(_canonical(write), "write", _DEEPEST)
            hashed.update(len(text).to_bytes(8, "big"))
            hashed.update(text)
    return hashed.hexdigest()


def _canonical(write: Write) -> Json:
    kind = type(write).__name__
    if isinstance(write, EntryInsert):
        return [kind, write.entry]
    if isinstance(write, UsageInsert):
        return [kind, write.row]
    location = [kind, write.address.namespace, write.address.key]
    return [*location, write.value] if isinstance(write, ValueSet | ListAppend) else location
