"""Sessions as files in hard states: each is what it promises, and a right store agrees with its model."""

import asyncio

import pytest

from forkgen import check_session
from forkgen.damage import Verdict
from forkgen.legacy import legacy_files
from forkproof.expect import ClauseBroken
from forkproof.harness import HarnessError, SessionHarness
from forkproof.instruments.byteguard import ByteGuard
from forkproof.instruments.trace import Trace
from forkproof.makers import SessionMaker
from forkproof.makers.small_file import small_file
from forkproof.oracle.file_lines import lines_of
from forkproof.oracle.file_model import model_of_records
from forkproof.oracle.file_names import session_path
from forkstore.contract.addresses import value_address
from forkstore.contract.errors import CorruptSession, UnsupportedVersion
from forkstore.contract.forks import BranchFork, TreeFork
from forkstore.contract.writes import ValueSet
from forkstore.testing import JsonlHarness, MemoryHarness

PLACE = value_address("garden.plan", "extra")


@pytest.fixture
def harness(tmp_path):
    return JsonlHarness(tmp_path)


def run(harness, steps):
    async def whole():
        store = await SessionMaker(harness, Trace()).start()
        try:
            return await steps(store)
        finally:
            await store.repo.close()
            store.take_away_files()

    return asyncio.run(whole())


def test_a_stores_own_file_is_found_and_read(harness):
    async def steps(store):
        subject = await store.rich_session("walk 1")
        metadata = subject.metadata
        path = store.path_of(subject)
        assert path == session_path(store.root, "/srv/garden", metadata.created_at, "walk 1")
        found = lines_of(path)
        assert found.header["id"] == "walk 1"
        assert model_of_records(found.records).state() == subject.model.state()

    run(harness, steps)


def test_a_planted_file_is_opened_as_the_repository_lists_it(harness):
    async def steps(store):
        path = await store.plant(small_file(id="a"), id="a")
        metadata = await store.planted_metadata(path)
        assert metadata in await store.list()
        subject = store.subject(await store.repo.open(metadata), model_of_records(lines_of(path).records))
        await subject.check_everywhere()
        unlisted = await store.plant(b"not a session", id="b")
        assert (await store.planted_metadata(unlisted)).id == "b"

    run(harness, steps)


@pytest.mark.parametrize("keep", [1, None, "all"])
def test_a_torn_tail_is_half_a_line_and_the_model_is_without_it(harness, keep):
    async def steps(store):
        line = store.path_of(whole := await store.torn_tail_session(id="measure")).read_bytes().rpartition(b"\n")[2]
        length = 2 * len(line) if keep == "all" else keep
        subject = await store.torn_tail_session(keep=length)
        assert whole.id != subject.id
        path = store.path_of(subject)
        data = path.read_bytes()
        assert not data.endswith(b"\n")
        assert len(data.rpartition(b"\n")[2]) == (length or len(line))
        assert "torn" not in subject.model.entries
        await subject.open()
        await subject.check()
        assert path.read_bytes() == data[: data.rindex(b"\n") + 1]
        result = await subject.commit(ValueSet(PLACE, 1))
        assert result.first_seq == lines_of(path).records[-2]["seq"] + 1
        await subject.check_everywhere()

    run(harness, steps)


def test_a_tail_that_is_not_torn_is_refused(harness):
    async def steps(store):
        for number, keep in enumerate((0, -1, 10**6)):
            with pytest.raises(ValueError, match="are no torn tail"):
                await store.torn_tail_session(keep=keep, id=f"s{number}")

    run(harness, steps)


def test_damaged_files_are_judged_by_their_verdict(harness):
    async def steps(store):
        seen = dict.fromkeys(Verdict, 0)
        for number, variant in enumerate(store.damage_variants()):
            if variant.name.startswith("torn") and number % 7:
                continue
            session = store.damaged_session(variant)
            seen[variant.verdict] += 1
            if variant.verdict in (Verdict.OPENS, Verdict.OPENS_BEFORE):
                subject = await session.open()
                await subject.check(variant.name)
                assert subject.model.next_seq == variant.next_seq
                await subject.close()
                continue
            with pytest.raises(ValueError, match="does not open"):
                _ = session.model
            refusal = CorruptSession if variant.verdict is Verdict.CORRUPT else UnsupportedVersion
            with ByteGuard(session.path, root=store.root), pytest.raises(refusal):
                await session.open()
        assert min(seen.values()) > 0

    run(harness, steps)


def test_a_model_of_a_damaged_file_can_be_contradicted(harness):
    async def steps(store):
        variants = {variant.name: variant for variant in store.damage_variants()}
        session = store.damaged_session(next(one for one in variants.values() if one.verdict is Verdict.OPENS_BEFORE))
        store.raw.replace(session.path, small_file())
        with pytest.raises(ClauseBroken):
            await (await session.open()).check()

    run(harness, steps)


def test_legacy_files_are_judged_by_their_outcome(harness):
    async def steps(store):
        seen = 0
        for number, case in enumerate(legacy_files()):
            if case.name.startswith("torn") and number % 7:
                continue
            session = store.legacy_session(case)
            if case.normalized is None:
                with pytest.raises((CorruptSession, UnsupportedVersion)):
                    await store.repo.open(session.metadata)
                continue
            with ByteGuard(session.path, root=store.root):
                subject = await session.open()
                await subject.check(case.name)
                assert subject.metadata.legacy_parent_session_path == session.case.legacy_parent_session_path
                await subject.close()
            seen += 1
        assert seen > 30

    run(harness, steps)


def test_an_upgraded_legacy_session_is_followed(harness):
    async def steps(store):
        case = next(case for case in legacy_files() if case.name == "every-kind")
        subject = await store.legacy_session(case).open()
        await subject.commit(ValueSet(PLACE, 1))
        subject.model.follow_upgrade(await subject.session.scan_usage())
        await subject.check_everywhere()
        fork = await subject.fork(BranchFork("main"))
        await subject.close()
        await fork.check_everywhere()

    run(harness, steps)


def test_a_huge_session_is_what_its_recipe_expects(harness):
    async def steps(store):
        huge = store.huge_session(5_000)
        session = await store.repo.open(huge.metadata)
        await check_session(session, huge.generated.expectation)
        await session.close()
        fork = await store.repo.fork(huge.metadata, TreeFork())
        await check_session(fork, huge.generated.expectation.tree_fork())

    run(harness, steps)


def test_a_second_process_sees_what_is_there(harness):
    async def steps(store):
        subject = await store.rich_session()
        await store.check_in_second_process(subject)
        fork = await subject.fork(TreeFork())
        await store.check_in_second_process(fork)
        await fork.close()
        await store.check_in_second_process(fork)
        subject.model.scalars.clear()
        with pytest.raises(ClauseBroken, match="as a second process reads it"):
            await store.check_in_second_process(subject)

    run(harness, steps)


def test_a_second_process_that_cannot_read_breaks_the_clause(harness):
    async def steps(store):
        subject = await store.linear_session(2)
        await subject.close()
        store.raw.append(store.path_of(subject), b"not JSON\n")
        with pytest.raises(ClauseBroken, match=r"a second process\nexpected: .*\nseen: +CorruptSession"):
            await store.check_in_second_process(subject)

    run(harness, steps)


def test_a_harness_that_no_second_process_can_make_is_named(harness, tmp_path):
    class Local(JsonlHarness):
        pass

    async def steps(store):
        subject = await store.create()
        with pytest.raises(HarnessError, match="<locals>"):
            await SessionMaker(Local(tmp_path), Trace()).check_in_second_process(subject)
        bare = MemoryHarness(tmp_path)
        del bare.directory
        with pytest.raises(HarnessError, match="has no `directory`"):
            await SessionMaker(bare, Trace()).check_in_second_process(subject)
        with pytest.raises(HarnessError, match=r"in a second process: .*open_repo is not written"):
            await SessionMaker(SessionHarness(tmp_path), Trace()).check_in_second_process(subject)

    run(harness, steps)
