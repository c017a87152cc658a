"""The recipes, a file each. Its first words are a picture of the shape."""

from __future__ import annotations

from typing import Final

from forkgen.plan import Plan

from .benchmark import Benchmark
from .bushy import Bushy
from .compacted import Compacted
from .dead_history import DeadHistory
from .deep import Deep
from .everything import Everything
from .giant import Giant
from .labels import Labels
from .lanes import Lanes
from .linear import Linear
from .lists import Lists
from .numbers import Numbers
from .operations import Operations
from .reserved import Reserved, ReservedDead
from .scalars import Scalars
from .unicode import Unicode
from .usage import Usage
from .wide import Wide

PLANS: Final[tuple[type[Plan], ...]] = (
    Benchmark,
    Linear,
    Bushy,
    Lanes,
    Labels,
    Scalars,
    Lists,
    DeadHistory,
    Operations,
    Usage,
    Compacted,
    Unicode,
    Numbers,
    Deep,
    Giant,
    Wide,
    Reserved,
    ReservedDead,
    Everything,
)
