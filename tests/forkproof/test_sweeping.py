"""The shares of a case's rows: all operations of files in every row, those of databases once in all rows together."""

from types import SimpleNamespace

import pytest

from forkproof.instruments.fault_kinds import Fail, FailAfter, Short
from forkproof.suites.sessions.sweeping import share, share_of

FAULTS = {"before": Fail(), "behind": FailAfter(), "torn": Short()}


def store(*, many):
    return SimpleNamespace(faults=SimpleNamespace(are_many=many))


def test_files_are_swept_whole_in_every_row():
    assert [share_of(store(many=False), fault, FAULTS) for fault in FAULTS.values()] == [{}] * 3


@pytest.mark.parametrize("operations", [1, 3, 100])
def test_the_rows_strike_every_operation_of_a_database_once(operations):
    shares = [share_of(store(many=True), fault, FAULTS) for fault in FAULTS.values()]
    struck = [n for one in shares for n in range(one["first"], operations + 1, one["stride"])]
    assert sorted(struck) == list(range(1, operations + 1))


def test_a_case_may_leave_a_part_to_other_cases():
    shares = [share_of(store(many=True), fault, FAULTS, by=4) for fault in FAULTS.values()]
    assert shares == [{"first": 1, "stride": 12}, {"first": 2, "stride": 12}, {"first": 3, "stride": 12}]
    assert share(store(many=True), 9, of=4) == {"first": 2, "stride": 4}
