"""Selects what to do with a frame by its class."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from pipecat.observers.base_observer import FramePushed

FrameHandler = Callable[[FramePushed], Awaitable[None]]
# The first handler whose class a frame has is called. The class is None if this version of Pipecat does not have it.
FrameHandlers = list[tuple[Any, FrameHandler]]


class HandlerTable:
    """Finds the handler of a frame quickly, because most frames are audio, which has none."""

    def __init__(self, handlers: Iterable[tuple[Any, FrameHandler]]) -> None:
        """Create a table of handlers, the first of which come first."""
        self._handlers = [(kind, handler) for kind, handler in handlers if kind is not None]
        self._found: dict[type, FrameHandler | None] = {}

    def find(self, frame: object) -> FrameHandler | None:
        """Return the handler of a frame, or None."""
        kind = type(frame)
        try:
            return self._found[kind]
        except KeyError:
            handler = next((handler for base, handler in self._handlers if issubclass(kind, base)), None)
            self._found[kind] = handler
            return handler
