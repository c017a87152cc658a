from forkproof.sessions import test_session_contract  # noqa: F401
