"""Attaches the host's observer to a pipeline of Pipecat."""

from collections.abc import Awaitable, Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pipecat.frames.frames import MetricsFrame
from pipecat.metrics import metrics

from .observer import ConversationObserver
from .pipecat_observers import find_class
from .services import describe_service, walk_processors
from .session_conversation import SessionConversation

_RTVIObserver = find_class("processors.frameworks.rtvi", "RTVIObserver")


def _list_classes(*names: str) -> list[type]:
    return [getattr(metrics, name) for name in names if hasattr(metrics, name)]


# Metrics that processors report only if `enable_metrics` is set, and metrics that need `enable_usage_metrics`.
_TIMINGS = _list_classes(
    "TTFBMetricsData", "TTFAMetricsData", "TTFATMetricsData", "ProcessingMetricsData", "TextAggregationMetricsData"
)
_USAGE = _list_classes("LLMUsageMetricsData", "STTUsageMetricsData", "TTSUsageMetricsData")


def observe_worker(conversation: SessionConversation, worker: Any) -> None:
    """Record the conversation of a pipeline. Pipecat must not have set up the processors of `worker` yet."""
    processors = list(walk_processors(worker.pipeline))
    services = [service for service in map(describe_service, processors) if service is not None]
    observer = ConversationObserver(conversation, processors)
    _force_metrics(worker, observer)
    worker.add_observer(observer)
    conversation.add_services(
        services, framework=_describe_package("pipecat-ai"), writer=_describe_package("bothost-shim")
    )


def _describe_package(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return name


def _force_metrics(worker: Any, observer: ConversationObserver) -> None:
    """Turn metrics on if the bot has them off. The bot's client gets the same messages as before."""
    params = worker.params
    before = (params.enable_metrics, params.enable_usage_metrics)
    if all(before):
        return
    hidden = ([] if before[0] else _TIMINGS) + ([] if before[1] else _USAGE)
    if not _hide_metrics_from_client(worker, tuple(hidden)):
        return
    params.enable_metrics = params.enable_usage_metrics = True

    def restore() -> None:
        # The processors have read the values. Pipecat reads them again to describe the bot to its client.
        params.enable_metrics, params.enable_usage_metrics = before

    observer.at_start.append(restore)


def _hide_metrics_from_client(worker: Any, hidden: tuple[type, ...]) -> bool:
    """Keep metrics of some classes from the bot's client. Returns whether that is possible."""
    observers = getattr(getattr(worker, "_observer", None), "_observers", None)
    if observers is None:
        return False
    senders = [one for one in observers if _RTVIObserver is not None and isinstance(one, _RTVIObserver)]
    if not all(hasattr(sender, "_handle_metrics") for sender in senders):
        return False
    for sender in senders:
        sender._handle_metrics = _without_metrics(sender._handle_metrics, hidden)
    return True


def _without_metrics(handle: Callable[[Any], Awaitable[None]], hidden: tuple[type, ...]) -> Any:
    async def handle_rest(frame: Any) -> None:
        rest = [data for data in frame.data if not isinstance(data, hidden)]
        if len(rest) == len(frame.data):
            await handle(frame)
        elif rest:
            await handle(MetricsFrame(data=rest))

    return handle_rest
