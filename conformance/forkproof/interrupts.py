"""An interrupt ends a run even when Python loses it.

Python raises KeyboardInterrupt wherever the main thread happens to be. In a finalizer or a weak reference's callback
it is only printed and dropped, and a run over thousands of cases would go on. The wake-up descriptor sees every
signal; it is looked at between cases.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def watched_interrupts() -> Iterator[Callable[[], None]]:
    """Gives a check that raises KeyboardInterrupt when an interrupt has arrived since the block began."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None  # signals are for the main thread
        return
    seen, told = socket.socketpair()
    with seen, told:
        seen.setblocking(False)
        told.setblocking(False)
        before = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
        try:
            yield lambda: _raise_if_interrupted(seen)
        finally:
            signal.set_wakeup_fd(before)


def _raise_if_interrupted(seen: socket.socket) -> None:
    with contextlib.suppress(BlockingIOError):
        if signal.SIGINT in seen.recv(4096):
            raise KeyboardInterrupt
