"""One case, one result: every way a case can end is told apart, said readably, and leaves nothing behind."""

import asyncio
import warnings

import pytest

from forkproof.case import BoundCase, case, in_any_state
from forkproof.expect import expect_equal
from forkproof.harness import HarnessError, SessionHarness
from forkproof.instruments.proxies import unwatched
from forkproof.runner import missing_seams, needed_seams, run_case
from forkproof.verdict import Outcome
from forkstore import MemorySessionRepo
from forkstore.contract.addresses import value_address
from forkstore.contract.errors import RepoClosed
from forkstore.contract.forks import TreeFork

NAME = value_address("garden.plan")


class Kept(SessionHarness):
    """The memory backend, whose one repository stays at hand: a test looks at what a case left in it."""

    name = "kept"
    kinds = frozenset({"memory"})
    seams = frozenset({"clock", "probe", "raw-commit"})

    def __init__(self, directory):
        super().__init__(directory)
        self.seen = []
        self.repo = None
        self.cleaned = 0

    async def open_repo(self, seams):
        self.seen.append(seams)
        self.repo = Listing(now=seams.clock, fork_probe=seams.probe)
        return self.repo

    async def clean_up(self):
        self.cleaned += 1


class Listing(MemorySessionRepo):
    """Remembers what was listed at the moment of its closing."""

    left = None

    async def close(self):
        if self.left is None:
            self.left = [metadata.id for metadata in await self.list()]
        await super().close()


def bound(function, *clauses, needs=()) -> BoundCase:
    (only,) = case(*(clauses or ("S-VAL-01",)), needs=needs)(function).variants()
    return only


@pytest.fixture
def harness(tmp_path):
    return Kept(tmp_path)


async def holds(store):
    """It holds."""
    subject = await store.create(id="s")
    await subject.session.set_value(NAME, 1)


async def breaks(store):
    """A value comes back.

    If this fails, look at: the first cause; the second cause.
    """
    subject = await store.create(id="s")
    await subject.session.set_value(NAME, {"rain": 2.5})
    expect_equal((await subject.session.get_value(NAME)).value, {"rain": 3.5}, of="the value that was set")


def test_a_case_that_holds(harness):
    result = run_case(bound(holds), harness)
    assert (result.outcome, result.detail, result.clauses) == (Outcome.HELD, "", ("S-VAL-01",))
    assert result.calls == 2
    assert (harness.repo.left, harness.cleaned) == ([], 1)


def test_a_broken_clause_is_told_from_sentence_to_causes(harness):
    result = run_case(bound(breaks), harness)
    assert result.outcome is Outcome.FAILED
    parts = [
        "A value comes back.",
        "the value that was set\nexpected: {'rain': 3.5}\nseen:     {'rain': 2.5}",
        "last operations:\n  repo.create(id='s') → returned session1",
        "session1.set_value(value_address('garden.plan', ''), {'rain': 2.5}) → returned sequences 1 to 1",
        "If this fails, look at: the first cause; the second cause.",
    ]
    places = [result.detail.index(part) for part in parts]
    assert places == sorted(places)


@pytest.mark.parametrize("error", [TypeError("'NoneType' object"), asyncio.CancelledError(), AssertionError("inside")])
def test_any_other_exception_is_a_failure(harness, error):
    async def raises(store):
        """Raises."""
        await store.create()
        raise error

    result = run_case(bound(raises), harness)
    assert result.outcome is Outcome.FAILED
    assert type(error).__name__ in result.detail
    assert harness.repo.left == []


def test_an_unexpected_exception_shows_the_frames_of_the_backend(tmp_path):
    class Broken(Kept):
        async def open_repo(self, seams):
            repo = await super().open_repo(seams)
            repo.fork = self.fails_in_the_backend
            return repo

        async def fails_in_the_backend(self, *_):
            raise KeyError("parentId")

    async def forks(store):
        """Forks."""
        source = await store.create()
        await source.fork(TreeFork())

    result = run_case(bound(forks), Broken(tmp_path))
    assert "unexpected KeyError: 'parentId'" in result.detail
    assert "in fails_in_the_backend" in result.detail
    assert "proxies.py" not in result.detail


def test_seams_that_are_missing_are_named(tmp_path):
    plain = SessionHarness(tmp_path)
    result = run_case(bound(holds, needs=("clock", "probe")), plain)
    assert result.outcome is Outcome.NOT_EXERCISED
    assert result.detail == "needs the seams clock, probe, not offered by the harness"


def test_seams_come_from_the_clauses_unless_the_case_says_so(harness):
    assert needed_seams(bound(holds, "S-FORK-ORD-13", "S-ENT-15", needs=None)) == ("raw-commit", "probe", "clock")
    assert needed_seams(bound(holds, "S-ADDR-07", needs=None)) == ()
    assert needed_seams(bound(holds, "S-TXN-17", needs=())) == ()
    assert missing_seams(bound(holds, "S-TXN-17", needs=None), harness) == ("fault-injection",)


def test_only_the_seams_that_a_case_needs_are_handed_out(harness):
    async def uses(store):
        """Uses."""
        await store.create()
        assert store.clock.readings == 1
        with pytest.raises(LookupError):
            _ = store.probe

    assert run_case(bound(uses, needs=("clock",)), harness).outcome is Outcome.HELD
    (seams,) = harness.seen
    assert seams.clock is not None
    assert seams.probe is None


@pytest.mark.parametrize("error", [HarnessError("no disk"), RuntimeError("no disk")])
def test_a_harness_that_raises_is_one_line(tmp_path, error):
    class Broken(SessionHarness):
        async def open_repo(self, seams):
            raise error

    result = run_case(bound(holds), Broken(tmp_path))
    assert result.outcome is Outcome.FAILED
    assert result.detail.startswith("harness: ")
    assert "no disk" in result.detail
    assert "\n" not in result.detail


def test_a_case_that_touches_nothing_is_a_kit_error(harness):
    async def idle(store):
        """Idles."""

    result = run_case(bound(idle), harness)
    assert (result.outcome, result.calls) == (Outcome.KIT_ERROR, 0)
    assert "did not touch the backend" in result.detail


def test_a_coroutine_that_is_never_awaited_is_a_kit_error(harness):
    async def forgets(store):
        """Forgets."""
        subject = await store.create()
        subject.session.get_stats()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = run_case(bound(forgets), harness)
    assert result.outcome is Outcome.KIT_ERROR
    assert "session1.get_stats" in result.detail


def test_a_task_left_running_is_a_kit_error(harness):
    async def leaves(store):
        """Leaves."""
        subject = await store.create()
        scope = await subject.session.begin_mutation()
        store.kept = asyncio.ensure_future(subject.session.set_value(NAME, 1)), scope
        await asyncio.sleep(0)

    result = run_case(bound(leaves), harness)
    assert result.outcome is Outcome.KIT_ERROR
    assert "left tasks running: session1.set_value" in result.detail
    assert harness.repo.left == []


def test_an_error_that_reaches_nobody_is_a_failure(tmp_path):
    async def fails():
        raise OSError("in the background")

    class Careless(Listing):
        async def create(self, **options):
            self.task = asyncio.ensure_future(fails())
            return await super().create(**options)

    class Harness(Kept):
        async def open_repo(self, seams):
            return Careless()

    async def creates(store):
        """Creates."""
        await store.create()
        await asyncio.sleep(0)
        del unwatched(store.repo).task

    result = run_case(bound(creates), Harness(tmp_path))
    assert result.outcome is Outcome.FAILED
    assert "OSError: in the background" in result.detail


def test_a_call_that_never_returns_is_caught_by_the_ceiling(tmp_path):
    class Deaf(Listing):
        async def fork(self, metadata, options):
            await asyncio.Event().wait()

    class Harness(Kept):
        async def open_repo(self, seams):
            self.repo = Deaf()
            return self.repo

    async def forks(store):
        """Forks."""
        await (await store.create()).fork(TreeFork())

    harness = Harness(tmp_path)
    result = run_case(bound(forks), harness, slow=0.002)
    assert result.outcome is Outcome.FAILED
    assert "did not finish" in result.detail
    assert "deadlock?" in result.detail
    assert "repo.fork" in result.detail
    assert (harness.repo.left, harness.cleaned) == ([], 1)


def test_a_failing_case_leaves_no_session_behind(harness):
    async def fails(store):
        """Fails with everything open."""
        first = await store.linear_session(2)
        await first.fork(TreeFork(id="fork"))
        await first.session.begin_mutation()
        raise ValueError("in the middle")

    assert run_case(bound(fails), harness).outcome is Outcome.FAILED
    assert (harness.repo.left, harness.cleaned) == ([], 1)


def test_a_durable_store_is_cleaned_also_when_the_case_closed_its_repository(tmp_path):
    kept = MemorySessionRepo()

    class Disk:
        """One handle on sessions that outlive it."""

        closed = False

        async def close(self):
            self.closed = True

        def __getattr__(self, name):
            async def call(*args, **options):
                if self.closed:
                    raise RepoClosed
                return await getattr(kept, name)(*args, **options)

            return call

    class Durable(Kept):
        durable = True

        async def open_repo(self, seams):
            return Disk()

    async def closes(store):
        """Closes."""
        await (await store.create(id="s")).close()
        await store.repo.close()

    assert run_case(bound(closes), Durable(tmp_path)).outcome is Outcome.HELD
    assert asyncio.run(kept.list()) == []


def test_a_clean_up_that_fails_fails_a_case_that_held(tmp_path):
    class Sticky(Kept):
        async def clean_up(self):
            raise OSError("still mounted")

    result = run_case(bound(holds), Sticky(tmp_path))
    assert result.outcome is Outcome.FAILED
    assert "clean-up: the harness's clean_up raised OSError: still mounted" in result.detail
    broken = run_case(bound(breaks), Sticky(tmp_path))
    assert "still mounted" not in broken.detail


def test_a_keyboard_interrupt_passes_after_the_clean_up(harness):
    async def interrupted(store):
        """Interrupted."""
        await store.create()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_case(bound(interrupted), harness)
    assert (harness.repo.left, harness.cleaned) == ([], 1)


def test_other_warnings_are_passed_on(harness):
    async def warns(store):
        """Warns."""
        await store.create()
        warnings.warn("old-fashioned", DeprecationWarning, stacklevel=1)

    with pytest.warns(DeprecationWarning, match="old-fashioned"):
        assert run_case(bound(warns), harness).outcome is Outcome.HELD


def test_a_duck_typed_harness_takes_the_defaults():
    class Duck:
        async def open_repo(self, seams):
            return MemorySessionRepo()

    assert run_case(bound(holds), Duck()).outcome is Outcome.HELD


def test_any_state_gives_the_subject(harness):
    @case("S-ENT-03", needs=())
    @in_any_state
    async def sound(subject):
        """Sound."""
        await subject.check_everywhere()

    results = [run_case(one, Kept(harness.directory)) for one in sound.variants()]
    assert [(one.case, one.detail) for one in results if one.outcome is not Outcome.HELD] == []


class CancelsItsClosing(MemorySessionRepo):
    """Its close ends in a cancellation that nobody asked for."""

    async def close(self):
        await super().close()
        raise asyncio.CancelledError


def test_a_clean_up_that_is_cancelled_by_the_backend_fails_the_case(tmp_path):
    class Cancelling(Kept):
        async def open_repo(self, seams):
            return CancelsItsClosing(now=seams.clock)

    result = run_case(bound(holds), Cancelling(tmp_path))
    assert result.outcome is Outcome.FAILED
    assert "closing the repository ended in a cancellation that nobody asked for" in result.detail
