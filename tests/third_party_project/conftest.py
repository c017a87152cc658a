import pytest
from forkproof import SessionHarness
from forkstore import MemorySessionRepo  # in your repository: your own


class MyHarness(SessionHarness):
    name = "mystore"
    seams = {"clock"}  # what you can offer beyond opening a repository

    async def open_repo(self, seams):  # every call opens the same store
        return MemorySessionRepo(now=seams.clock)


@pytest.fixture
def session_harness(tmp_path):
    return MyHarness(tmp_path)
