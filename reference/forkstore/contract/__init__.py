"""What every backend promises, written once.

The records, the writes, the queries, the fork rules and the errors of the session store contract (version 2026.1),
free of I/O and of asyncio primitives. A backend implements the protocols of `forkstore.contract.store` with the
functions of this package and re-implements none of its rules.
"""
