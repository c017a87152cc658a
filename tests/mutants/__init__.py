"""Wrong backends: the memory backend with one lie each, and the clause whose cases must catch it.

A mutant is a subclass of `MemorySessionRepo` with a docstring that says the lie in one sentence, `kills` (the clause),
and the changed lines. `catalogue.mutants` finds them all in `tests/mutants/sessions`, whose files mirror the suites.
"""
