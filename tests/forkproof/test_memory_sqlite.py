"""The memory meter on SQLite's own heap, which Python's tracer does not see."""

import apsw

from forkproof.instruments.memory import MemoryMeter

MEBIBYTE = 2**20


def fill(connection, mebibytes):
    connection.executemany("INSERT INTO beds VALUES(randomblob(?))", [(MEBIBYTE,)] * mebibytes)


def beds():
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE beds(soil)")
    return connection


def test_the_peak_of_sqlites_heap_is_measured_above_its_start():
    held = beds()
    fill(held, 3)
    with MemoryMeter() as meter:
        other = beds()
        fill(other, 4)
        other.close()
    assert 4 * MEBIBYTE <= meter.sqlite_peak < 7 * MEBIBYTE
    assert meter.peak < MEBIBYTE
    held.close()


def test_an_earlier_peak_is_not_counted():
    connection = beds()
    fill(connection, 4)
    connection.close()
    with MemoryMeter() as meter:
        pass
    assert meter.sqlite_peak < MEBIBYTE // 4


def test_the_peak_can_be_read_inside_the_block_and_never_falls():
    with MemoryMeter() as meter:
        connection = beds()
        fill(connection, 2)
        meter.read_peak()
        early = meter.sqlite_peak
        fill(connection, 4)
        connection.close()
    assert 2 * MEBIBYTE <= early < 5 * MEBIBYTE < 6 * MEBIBYTE <= meter.sqlite_peak


def test_pythons_heap_is_not_in_it():
    with MemoryMeter() as meter:
        soil = bytes(3 * MEBIBYTE)
    assert len(soil) == 3 * MEBIBYTE <= meter.peak
    assert meter.sqlite_peak < MEBIBYTE // 4
