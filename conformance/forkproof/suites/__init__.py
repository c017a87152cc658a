"""The suites: one package per family, one file per group of clauses. Each family's package gives its cases in
contract order.
"""
