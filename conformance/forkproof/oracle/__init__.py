"""The judge: an independent model of a session, and a full reading of a live one to hold against it.

Dictionaries and lists only. Nothing here shares code with a backend or with the contract's own classifier and queries.
"""
