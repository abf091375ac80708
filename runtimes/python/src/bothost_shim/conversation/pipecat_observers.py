"""Creates the observers of Pipecat to which the host's observer delegates, if this version of Pipecat has them."""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from pipecat.observers.base_observer import FramePushed
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor


def find_class(module: str, name: str) -> Any:
    """Return a class of Pipecat, or None if this version of Pipecat does not have it."""
    try:
        return getattr(import_module(f"pipecat.{module}"), name, None)
    except ImportError:
        return None


def has_processor(processors: Iterable[FrameProcessor], kind: Any) -> bool:
    """Return whether one of the processors has a class, which `find_class` may not have found."""
    return kind is not None and any(isinstance(processor, kind) for processor in processors)


_CLASSES = {
    name: find_class(f"observers.{module}", name)
    for module, name in (
        ("speaking_observer", "SpeakingObserver"),
        ("user_bot_latency_observer", "UserBotLatencyObserver"),
        ("function_call_observer", "FunctionCallObserver"),
        ("service_metrics_observer", "ServiceMetricsObserver"),
        ("error_observer", "ErrorObserver"),
    )
}


class Delegate:
    """One of Pipecat's observers. It ignores all frames if this version of Pipecat does not have the observer."""

    def __init__(self, name: str, handlers: dict[str, Callable[..., None]], **options: Any) -> None:
        """Create the observer `name`. `handlers` has a function for each of its events."""
        self.observer: Any = None
        if _CLASSES[name] is None:
            return
        self.observer = _with_direct_handlers(_CLASSES[name])(**options)
        for event, handler in handlers.items():
            self.observer.add_event_handler(event, handler)

    async def push(self, data: FramePushed) -> None:
        """Pass a frame to the observer."""
        if self.observer is not None:
            await self.observer.on_push_frame(data)


def _with_direct_handlers(kind: Any) -> Any:
    """Return a class of observers whose handlers are called at once, not in a task, so that events keep their order."""

    class DirectObserver(kind):  # type: ignore[misc]
        def _register_event_handler(self, event_name: str, sync: bool = True) -> None:
            super()._register_event_handler(event_name, sync=True)

    return DirectObserver


def is_copy(data: FramePushed) -> bool:
    """Return whether a frame is the upstream copy of a frame that was broadcast in both directions."""
    return data.frame.broadcast_sibling_id is not None and data.direction != FrameDirection.DOWNSTREAM
