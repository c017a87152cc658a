"""Deterministic generators of sessions and streams: pure functions of recipe, seed and size.

An empty room so far: the package holds its place in the distribution and in the import rules. Of this project it may
import `forkstore.contract` only.
"""
