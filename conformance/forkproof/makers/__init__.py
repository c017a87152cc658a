"""Makers deliver sessions in hard shapes, each with the model that says what it must hold. Cases share them."""

from forkproof.makers.maker import SessionMaker
from forkproof.makers.subject import Subject

__all__ = ["SessionMaker", "Subject"]
