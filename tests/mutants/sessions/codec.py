"""Mutants of the suites `codec`, `codec_limits`, `codec_depth`, `codec_refusals` and `codec_doors`."""

from __future__ import annotations

import asyncio
import math
from typing import Any

from forkstore.contract.errors import InvalidValue
from forkstore.contract.writes import CommitResult, ListAppend, Write
from forkstore.memory.storage import MemoryStorage
from tests.mutants.catalogue import Mutant
from tests.mutants.rewriting import LeafRewritingStorage, RewritingStorage, rewritten


class TuplesAreLists(Mutant):
    """Lie: a tuple is stored as a list."""

    kills = "S-VAL-03"

    class storage_class(LeafRewritingStorage):  # noqa: N801 - takes the place of an attribute
        def leaf(self, value: Any) -> Any:
            return list(value) if isinstance(value, tuple) else value


class SubclassesPass(Mutant):
    """Lie: an object of a class derived from dict is stored as a dict."""

    kills = "S-VAL-03"

    class storage_class(LeafRewritingStorage):  # noqa: N801 - takes the place of an attribute
        def leaf(self, value: Any) -> Any:
            return dict(value) if isinstance(value, dict) else value


class NamesBecomeText(Mutant):
    """Lie: member names that are no text become text."""

    kills = "S-VAL-03"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def value(self, value: Any) -> Any:
            return {str(name): member for name, member in value.items()} if type(value) is dict else value


class UnknownClassesBecomeText(Mutant):
    """Lie: what JSON does not know is stored as its text."""

    kills = "S-VAL-03"

    class storage_class(LeafRewritingStorage):  # noqa: N801 - takes the place of an attribute
        def leaf(self, value: Any) -> Any:
            return value if isinstance(value, str | int | float | None) else str(value)


class WholeFloatsAreIntegers(Mutant):
    """Lie: a float without a fraction comes back as an integer."""

    kills = "S-VAL-04"

    class storage_class(LeafRewritingStorage):  # noqa: N801 - takes the place of an attribute
        def leaf(self, value: Any) -> Any:
            return int(value) if type(value) is float and value.is_integer() and abs(value) < 2**60 else value


class SortedMembers(Mutant):
    """Lie: the members of an object come back sorted."""

    kills = "S-VAL-04"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def value(self, value: Any) -> Any:
            return dict(sorted(value.items())) if type(value) is dict else value


class FifteenDigits(Mutant):
    """Lie: floats keep fifteen digits."""

    kills = "S-VAL-04"

    class storage_class(LeafRewritingStorage):  # noqa: N801 - takes the place of an attribute
        def leaf(self, value: Any) -> Any:
            return float(f"{value:.15g}") if type(value) is float and abs(value) < 1e300 else value


class NotANumberIsNull(Mutant):
    """Lie: NaN is stored as null."""

    kills = "S-VAL-05"

    class storage_class(LeafRewritingStorage):  # noqa: N801 - takes the place of an attribute
        def leaf(self, value: Any) -> Any:
            return None if type(value) is float and math.isnan(value) else value


class InfinityIsTheLargestFloat(Mutant):
    """Lie: an infinity in a usage row is stored as a large float."""

    kills = "S-VAL-05"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def row(self, row: Any) -> Any:
            return rewritten(row, lambda value: 1e300 if type(value) is float and math.isinf(value) else value)


class LargeIntegersAreFloats(Mutant):
    """Lie: an integer of more than 64 bits is stored as a float."""

    kills = "S-VAL-06"

    class storage_class(LeafRewritingStorage):  # noqa: N801 - takes the place of an attribute
        def leaf(self, value: Any) -> Any:
            return float(value) if type(value) is int and 2**63 <= abs(value) < 2**900 else value


class IntegersPassThroughFloats(Mutant):
    """Lie: integers have the precision of a float."""

    kills = "S-VAL-06"

    class storage_class(LeafRewritingStorage):  # noqa: N801 - takes the place of an attribute
        def leaf(self, value: Any) -> Any:
            return int(float(value)) if type(value) is int and abs(value) < 2**62 else value


class TextEndsAtNul(Mutant):
    """Lie: text ends at U+0000."""

    kills = "S-VAL-07"

    class storage_class(LeafRewritingStorage):  # noqa: N801 - takes the place of an attribute
        def leaf(self, value: Any) -> Any:
            return value.partition("\0")[0] if type(value) is str else value


class SurrogatesAreReplaced(Mutant):
    """Lie: a lone surrogate is stored as a question mark."""

    kills = "S-VAL-08"

    class storage_class(LeafRewritingStorage):  # noqa: N801 - takes the place of an attribute
        def leaf(self, value: Any) -> Any:
            return value.encode(errors="replace").decode() if type(value) is str else value


class SurrogatesInNamesAreReplaced(Mutant):
    """Lie: a lone surrogate in the name of an entry's field is stored as a question mark."""

    kills = "S-VAL-08"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def entry(self, entry: Any) -> Any:
            return {name.encode(errors="replace").decode(): value for name, value in entry.items()}


class DepthEndsAt100(Mutant):
    """Lie: a value deeper than 100 is refused."""

    kills = "S-VAL-09"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def value(self, value: Any) -> Any:
            level, depth = [value], 0
            while (level := [one for one in level if isinstance(one, list | dict)]) and depth <= 100:
                depth += 1
                level = [one for outer in level for one in (outer.values() if isinstance(outer, dict) else outer)]
            if depth > 100:
                raise InvalidValue("value", "is deeper than expected")
            return value


class DeeperIsCut(Mutant):
    """Lie: what is deeper than 200 in a scalar or an element is left out."""

    kills = "S-VAL-09"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def value(self, value: Any, room: int = 200) -> Any:
            if not room and type(value) in (list, dict):
                return None
            if type(value) is dict:
                return {name: self.value(member, room - 1) for name, member in value.items()}
            return [self.value(member, room - 1) for member in value] if type(value) is list else value


class RefusesInALaterStep(Mutant):
    """Lie: a commit looks at its writes when its turn has come."""

    kills = "S-VAL-10"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            await asyncio.sleep(0)
            return await super().commit(writes)


class NamesNoPlace(Mutant):
    """Lie: a refusal names the write, and no place inside it."""

    kills = "S-VAL-10"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            try:
                return await super().commit(writes)
            except InvalidValue as error:
                raise InvalidValue(error.where.partition(".")[0], error.reason) from None


class NamesTheFirstWrite(Mutant):
    """Lie: a refusal names the first write of the commit."""

    kills = "S-VAL-10"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            try:
                return await super().commit(writes)
            except InvalidValue as error:
                raise InvalidValue("writes[0]." + error.where.partition(".")[2], error.reason) from None


class ValidWritesAreKept(Mutant):
    """Lie: the writes before one that is refused are written."""

    kills = "S-VAL-10"

    class storage_class(MemoryStorage):  # noqa: N801 - takes the place of an attribute
        async def commit(self, writes: list[Write]) -> CommitResult:
            try:
                return await super().commit(writes)
            except InvalidValue:
                await super().commit(writes[:1])
                raise


class ElementsHaveAnotherCodec(Mutant):
    """Lie: list elements go through a codec that takes tuples."""

    kills = "S-VAL-12"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def _rewritten(self, write: Any) -> Any:
            if not isinstance(write, ListAppend):
                return write
            value = rewritten(write.value, lambda value: list(value) if isinstance(value, tuple) else value)
            return ListAppend(write.address, value)


class MessagesHaveAnotherCodec(Mutant):
    """Lie: whole floats in entries come back as integers."""

    kills = "S-VAL-12"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def entry(self, entry: Any) -> Any:
            return rewritten(entry, lambda value: int(value) if value == 1.0 and type(value) is float else value)


class SecondControlsAreLost(Mutant):
    """Lie: the control letters behind U+007F are left out of texts."""

    kills = "S-VAL-04"

    class storage_class(LeafRewritingStorage):  # noqa: N801 - takes the place of an attribute
        def leaf(self, value: Any) -> Any:
            return "".join(sign for sign in value if not 0x80 <= ord(sign) < 0xA0) if type(value) is str else value


class EscapesAreReadTwice(Mutant):
    """Lie: what looks like an escape in a text is taken for one."""

    kills = "S-VAL-04"

    class storage_class(LeafRewritingStorage):  # noqa: N801 - takes the place of an attribute
        def leaf(self, value: Any) -> Any:
            return value.replace("\\u0041", "A") if type(value) is str else value


class NumbersOfAListAreOfOneType(Mutant):
    """Lie: the integers of a list of numbers become floats when a float is among them."""

    kills = "S-VAL-04"

    class storage_class(RewritingStorage):  # noqa: N801 - takes the place of an attribute
        def value(self, value: Any) -> Any:
            numbers = type(value) is list and {type(one) for one in value} == {int, float}
            return [float(one) for one in value] if numbers else value
