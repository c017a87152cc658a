"""Mutants of the session contract, one file per suite."""
