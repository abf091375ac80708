"""Records what services use, and their errors."""

from typing import Any

from pipecat.frames import frames
from pipecat.observers.base_observer import BaseObserver, FramePushed

from .error_category import refine_category
from .frame_handlers import FrameHandlers
from .pipecat_observers import Delegate
from .response_meter import ResponseMeter
from .session_conversation import SessionConversation
from .writer import to_name

# Fields of a usage line, and the fields of Pipecat's `ServiceUsageRecord` that they contain.
_USAGE_FIELDS = {
    "characters": "characters",
    "inputTokens": "prompt_tokens",
    "outputTokens": "completion_tokens",
    "totalTokens": "total_tokens",
    "cacheReadTokens": "cache_read_input_tokens",
    "cacheWriteTokens": "cache_creation_input_tokens",
    "reasoningTokens": "reasoning_tokens",
    "inputAudioTokens": "input_audio_tokens",
    "outputAudioTokens": "output_audio_tokens",
}


class ServiceRecorder:
    """Writes a line for each report of usage, and for each error."""

    def __init__(self, conversation: SessionConversation, meter: ResponseMeter) -> None:
        """Prepare to receive frames."""
        self._conversation, self._meter = conversation, meter
        self._turns, self._writer = conversation.turns, conversation.writer
        self._metrics = Delegate("ServiceMetricsObserver", {"on_service_usage": self._on_usage})
        self._errors = Delegate("ErrorObserver", {"on_error": self._on_error})
        self.delegates = [self._metrics, self._errors]
        self._error: Any = None

    def list_handlers(self) -> FrameHandlers:
        """Return the handlers of metrics and errors."""
        return [(frames.MetricsFrame, self._handle_metrics), (frames.ErrorFrame, self._handle_error)]

    async def _handle_metrics(self, data: FramePushed) -> None:
        await self._metrics.push(data)
        await self._meter.delegate.push(data)

    async def _handle_error(self, data: FramePushed) -> None:
        self._error = data.frame
        await self._errors.push(data)

    def _on_usage(self, _: BaseObserver, record: Any) -> None:
        if record.model:
            self._conversation.update_model(record.processor, record.model)
        counts = {name: getattr(record, field, None) for name, field in _USAGE_FIELDS.items()}
        seconds = getattr(record, "audio_seconds", None)
        counts["audioMs"] = None if seconds is None else round(seconds * 1000)
        if any(counts.values()):
            self._writer.write(
                "usage",
                turn=self._turns.turn,
                role=str(record.kind),
                service=to_name(record.processor),
                model=to_name(record.model),
                **counts,
            )

    def _on_error(self, _: BaseObserver, event: Any) -> None:
        self._writer.write(
            "error",
            turn=self._turns.turn,
            service=to_name(event.processor),
            category=refine_category(event.category.value, getattr(self._error, "exception", None)),
            exceptionType=to_name(event.exception_type),
            message=event.message if self._writer.has_text else None,
            fatal=bool(getattr(self._error, "fatal", False)) or None,
        )
