"""The memory backend: complete, not durable, and the model of how small a backend can be."""

from .repo import MemorySessionRepo

__all__ = ["MemorySessionRepo"]
