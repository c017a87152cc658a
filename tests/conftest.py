"""What holds for every test: no clock of the machine decides about one."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("tests", deadline=None, derandomize=True)
settings.load_profile("tests")
