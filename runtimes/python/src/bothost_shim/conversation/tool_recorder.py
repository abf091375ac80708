"""Records the calls of tools."""

import json
from typing import Any

from pipecat.frames import frames
from pipecat.observers.base_observer import BaseObserver, FramePushed

from .frame_handlers import FrameHandlers
from .pipecat_observers import Delegate
from .response_meter import ResponseMeter
from .session_conversation import SessionConversation
from .writer import TOOL_TEXT_CHARACTERS, to_name

_STATES = {
    "function_call_completed": "completed",
    "function_call_failed": "failed",
    "function_call_timed_out": "timed-out",
    "function_call_cancelled": "cancelled",
}


class ToolRecorder:
    """Writes a line when a call begins, and again when it has ended."""

    def __init__(self, conversation: SessionConversation, meter: ResponseMeter) -> None:
        """Prepare to receive frames."""
        self._turns, self._writer, self._meter = conversation.turns, conversation.writer, meter
        has_text = self._writer.has_text
        self.delegate = Delegate(
            "FunctionCallObserver",
            {"on_function_call_event": self._on_call},
            include_arguments=has_text,
            include_results=has_text,
        )
        # The line of each running call.
        self._calls: dict[str, dict[str, Any]] = {}

    def list_handlers(self) -> FrameHandlers:
        """Return a handler for each class of frames about calls."""
        return [
            (frames.FunctionCallsStartedFrame, self._handle),
            (frames.FunctionCallInProgressFrame, self._handle),
            (frames.FunctionCallResultFrame, self._handle),
            (frames.FunctionCallCancelFrame, self._handle),
        ]

    async def _handle(self, data: FramePushed) -> None:
        await self.delegate.push(data)
        await self._meter.delegate.push(data)

    def _on_call(self, _: BaseObserver, event: Any) -> None:
        call = event.tool_call_id
        line = self._calls.get(call)
        if line is None:
            started_at = event.in_progress_at or event.timestamp
            line = self._calls[call] = {
                "turn": self._turns.start_tool(call, started_at),
                "id": to_name(call),
                "name": to_name(event.function_name),
                "from": self._writer.to_ms(started_at),
                "arguments": _to_json(event.arguments),
            }
            if event.kind not in _STATES:
                self._writer.write("tool", **line, state="running", to=None)
                return
        if event.kind in _STATES:
            del self._calls[call]
            self._turns.end_tool(call)
            self._writer.write(
                "tool",
                **line,
                state=_STATES[event.kind],
                to=self._writer.to_ms(event.timestamp),
                result=_to_json(event.result),
                message=event.error if self._writer.has_text else None,
            )


def _to_json(value: Any) -> str | None:
    """Return arguments or a result of a tool as JSON. Text stays as it is.

    It is cut if it is very long. The writer cuts it again after redaction, which must not see half of a number.
    """
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text[: 2 * TOOL_TEXT_CHARACTERS]
