"""Observes a Pipecat pipeline and records its conversation."""

import inspect
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from loguru import logger
from pipecat.frames import frames
from pipecat.observers.base_observer import BaseObserver, FramePushed
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.transports.base_input import BaseInputTransport
from pipecat.transports.base_output import BaseOutputTransport

from .error_category import refine_category
from .pipecat_observers import Delegate, find_class, is_copy
from .response_meter import ResponseMeter
from .session_conversation import SessionConversation
from .spoken_words import SpokenWords
from .writer import TOOL_TEXT_CHARACTERS, to_name

_Handler = Callable[[FramePushed], Awaitable[None]]

# Frames that are remembered to tell their first push from further ones, for Pipecat before 1.12.
_REMEMBERED_FRAMES = 1_000
_TOOL_STATES = {
    "function_call_completed": "completed",
    "function_call_failed": "failed",
    "function_call_timed_out": "timed-out",
    "function_call_cancelled": "cancelled",
}
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
# Classes that Pipecat 1.9 to 1.12 do not have.
_UserTextFrame = getattr(frames, "LLMContextUserTurnFrame", None)
_TypedTextFrame = find_class("processors.frameworks.rtvi.frames", "RTVISendTextFrame")
_UserAggregator = find_class("processors.aggregators.llm_response_universal", "LLMUserAggregator")
_AssistantAggregator = find_class("processors.aggregators.llm_response_universal", "LLMAssistantAggregator")


class ConversationObserver(BaseObserver):
    """Records the conversation of one pipeline. It never raises into the pipeline.

    It discards frames by their class before anything else, because most of them are audio. It passes the others to
    Pipecat's own observers.
    """

    def __init__(self, conversation: SessionConversation, processors: list[FrameProcessor]) -> None:
        """Prepare to observe the pipeline that has these processors."""
        self._is_called_once = "observe_every_push" in inspect.signature(BaseObserver.__init__).parameters
        super().__init__(**({"observe_every_push": False} if self._is_called_once else {}))
        self._conversation = conversation
        self._turns = conversation.turns
        self._writer = conversation.writer
        self._meter = ResponseMeter(conversation)
        self._speaking = Delegate("SpeakingObserver", {"on_speech_event": self._on_speech})
        has_text = self._writer.has_text
        self._tools = Delegate(
            "FunctionCallObserver",
            {"on_function_call_event": self._on_tool},
            include_arguments=has_text,
            include_results=has_text,
        )
        self._metrics = Delegate("ServiceMetricsObserver", {"on_service_usage": self._on_usage})
        self._errors = Delegate("ErrorObserver", {"on_error": self._on_error})
        self._delegates = [self._meter.delegate, self._speaking, self._tools, self._metrics, self._errors]
        self._has_user_aggregator = _contains(processors, _UserAggregator)
        self._has_assistant_aggregator = _contains(processors, _AssistantAggregator)
        # Several pipelines of a session can work together. Its turns are those of the pipeline with the transport.
        has_transport = _contains(processors, BaseInputTransport) or _contains(processors, BaseOutputTransport)
        self._recorder = conversation.record_audio() if has_transport else None
        self._handlers = self._list_handlers(has_transport=has_transport)
        self._handler_of_class: dict[type[frames.Frame], _Handler | None] = {}
        self._pushed: OrderedDict[int, None] = OrderedDict()
        self._is_broken = False
        # Called when the pipeline pushes its first frame.
        self.at_start: list[Callable[[], None]] = []
        # Whether the bot has not sent audio in its response yet.
        self._awaits_audio = True
        self._language: str | None = None
        self._spoken_words = SpokenWords()
        # The line of each running tool.
        self._calls: dict[str, dict[str, Any]] = {}
        self._error: Any = None
        if has_transport and _UserTextFrame is None:
            self._listen_to_user_aggregators(processors)

    def _list_handlers(self, *, has_transport: bool) -> list[tuple[Any, _Handler]]:
        """Return a handler for each class of frames that says something about the conversation."""
        handlers: list[tuple[Any, _Handler]] = [
            (frames.StartFrame, self._handle_start),
            (frames.MetricsFrame, self._handle_metrics),
            (frames.ErrorFrame, self._handle_error),
            (frames.FunctionCallsStartedFrame, self._handle_tool),
            (frames.FunctionCallInProgressFrame, self._handle_tool),
            (frames.FunctionCallResultFrame, self._handle_tool),
            (frames.FunctionCallCancelFrame, self._handle_tool),
        ]
        if self._recorder is not None:
            handlers += [
                (frames.InputAudioRawFrame, self._handle_user_audio),
                (frames.OutputAudioRawFrame, self._handle_bot_audio),
            ]
        if has_transport:
            handlers += [
                (frames.VADUserStartedSpeakingFrame, self._handle_voice),
                (frames.VADUserStoppedSpeakingFrame, self._handle_silence),
                (frames.UserStartedSpeakingFrame, self._handle_turn_start),
                (frames.UserStoppedSpeakingFrame, self._handle_release),
                (frames.BotStartedSpeakingFrame, self._handle_bot_start),
                (frames.BotStoppedSpeakingFrame, self._handle_bot_stop),
                (frames.InterruptionFrame, self._handle_interruption),
                (frames.TranscriptionFrame, self._handle_transcription),
                (_UserTextFrame, self._handle_user_text),
                (_TypedTextFrame, self._handle_typed_text),
                (frames.LLMContextAssistantTurnFrame, self._handle_bot_text),
                (frames.TTSTextFrame, self._handle_spoken_words),
                (frames.TTSAudioRawFrame, self._handle_audio),
                (frames.LLMFullResponseStartFrame, self._handle_stage),
                (frames.LLMTextFrame, self._handle_stage),
                (getattr(frames, "LLMMarkerFrame", None), self._handle_stage),
                (frames.ClientConnectedFrame, self._handle_stage),
                (frames.EndFrame, self._handle_end),
                (frames.CancelFrame, self._handle_end),
            ]
        return [(kind, handler) for kind, handler in handlers if kind is not None]

    def _listen_to_user_aggregators(self, processors: Iterable[FrameProcessor]) -> None:
        """Receive the user's text from an event, because Pipecat before 1.13 has no frame for it."""

        async def add_text(_: Any, message: Any) -> None:
            if message.content:
                self._add_user_text(message.content)

        for processor in processors:
            if _UserAggregator is not None and isinstance(processor, _UserAggregator):
                processor.add_event_handler("on_user_turn_message_added", add_text)

    async def setup(self, task_manager: Any) -> None:
        """Set up this observer and those of Pipecat that it uses."""
        await super().setup(task_manager)
        for delegate in self._delegates:
            if delegate.observer is not None:
                await delegate.observer.setup(task_manager)

    async def cleanup(self) -> None:
        """Clean up this observer and those of Pipecat that it uses."""
        for delegate in self._delegates:
            if delegate.observer is not None:
                await delegate.observer.cleanup()
        await super().cleanup()  # type: ignore[no-untyped-call]

    async def on_pipeline_started(self) -> None:
        """Record that the pipeline has started."""
        if self._meter.delegate.observer is not None:
            await self._meter.delegate.observer.on_pipeline_started()

    async def on_push_frame(self, data: FramePushed) -> None:
        """Record what a frame says about the conversation, when it is pushed for the first time."""
        kind = type(data.frame)
        try:
            handler = self._handler_of_class[kind]
        except KeyError:
            handler = next((handler for base, handler in self._handlers if issubclass(kind, base)), None)
            self._handler_of_class[kind] = handler
        if handler is None or self._is_broken or not self._is_first_push(data):
            return
        try:
            await handler(data)
        except Exception as error:
            # Pipecat would no longer call this observer, and the queue of its frames would grow.
            self._is_broken = True
            logger.warning(f"The rest of the conversation is not recorded: {type(error).__name__}")

    def _is_first_push(self, data: FramePushed) -> bool:
        if self._is_called_once:
            return True
        if data.frame.id in self._pushed:
            return False
        self._pushed[data.frame.id] = None
        if len(self._pushed) > _REMEMBERED_FRAMES:
            self._pushed.popitem(last=False)
        return True

    async def _handle_start(self, _: FramePushed) -> None:
        for callback in self.at_start:
            callback()

    async def _handle_voice(self, data: FramePushed) -> None:
        # The user aggregator pushes the frames of voice detection in both directions without marking one as a copy.
        if data.direction == FrameDirection.DOWNSTREAM:
            await self._speaking.push(data)
            await self._meter.start_voice(data)

    async def _handle_silence(self, data: FramePushed) -> None:
        if data.direction == FrameDirection.DOWNSTREAM:
            self._awaits_audio = True
            await self._speaking.push(data)
            await self._meter.stop_voice(data)

    async def _handle_turn_start(self, data: FramePushed) -> None:
        if not is_copy(data):
            await self._speaking.push(data)
            await self._meter.start_turn(data)

    async def _handle_release(self, data: FramePushed) -> None:
        if not is_copy(data) and self._turns.is_user_turn_open:
            self._awaits_audio = True
            await self._speaking.push(data)
            await self._meter.release_turn(data)

    async def _handle_bot_start(self, data: FramePushed) -> None:
        if not is_copy(data):
            await self._speaking.push(data)
            await self._meter.start_bot_speech(data)

    async def _handle_bot_stop(self, data: FramePushed) -> None:
        if not is_copy(data):
            self._add_spoken_words(None)
            await self._speaking.push(data)

    async def _handle_interruption(self, data: FramePushed) -> None:
        if not is_copy(data):
            self._awaits_audio = True
            if self._recorder is not None:
                self._recorder.interrupt_bot()
            await self._speaking.push(data)
            self._add_spoken_words(data.timestamp)
            await self._meter.interrupt(data)

    async def _handle_transcription(self, data: FramePushed) -> None:
        if is_copy(data):
            return
        frame: Any = data.frame
        self._language = None if frame.language is None else str(frame.language)
        self._turns.hear_words()
        if not self._has_user_aggregator:
            self._add_user_text(frame.text, is_new_turn=not self._turns.is_waiting_for_bot)
            if not self._meter.knows_silence:
                await self._meter.measure_from_now(data)
        await self._meter.delegate.push(data)

    async def _handle_user_text(self, data: FramePushed) -> None:
        if not is_copy(data):
            frame: Any = data.frame
            self._add_user_text(frame.text)

    async def _handle_typed_text(self, data: FramePushed) -> None:
        if is_copy(data):
            return
        frame: Any = data.frame
        now = time.time()
        self._turns.start_user_turn(now, is_typed=True)
        self._turns.add_user_text(frame.text, now, is_typed=True)
        self._turns.release_user_turn(now)
        await self._meter.measure_from_now(data)

    async def _handle_bot_text(self, data: FramePushed) -> None:
        if not is_copy(data):
            frame: Any = data.frame
            self._turns.add_bot_text(frame.text, time.time())

    async def _handle_spoken_words(self, data: FramePushed) -> None:
        if self._writer.has_text and not self._has_assistant_aggregator:
            self._spoken_words.add(data)

    async def _handle_user_audio(self, data: FramePushed) -> None:
        if self._recorder is not None and isinstance(data.source, BaseInputTransport):
            frame: Any = data.frame
            # Some transports receive each participant separately.
            self._recorder.add("user", (data.source.id, getattr(frame, "user_id", None)), frame)

    async def _handle_bot_audio(self, data: FramePushed) -> None:
        if isinstance(data.frame, frames.TTSAudioRawFrame):
            await self._handle_audio(data)
        # The output transport pushes audio after it was sent. Audio of other processors may never be heard.
        if self._recorder is not None and isinstance(data.source, BaseOutputTransport):
            frame: Any = data.frame
            key = (data.source.id, frame.transport_destination)
            # Transports with this attribute wait for the time at which the client has played what it received before.
            # Others wait until the frame was played.
            self._recorder.add("bot", key, frame, begins_now=hasattr(data.source, "_send_interval"))

    async def _handle_audio(self, data: FramePushed) -> None:
        # Only the first audio of a response is of interest.
        if self._awaits_audio:
            self._awaits_audio = False
            await self._meter.delegate.push(data)

    async def _handle_stage(self, data: FramePushed) -> None:
        if not isinstance(data.frame, frames.LLMTextFrame):
            self._awaits_audio = True
        await self._meter.delegate.push(data)

    async def _handle_tool(self, data: FramePushed) -> None:
        await self._tools.push(data)
        await self._meter.delegate.push(data)

    async def _handle_metrics(self, data: FramePushed) -> None:
        await self._metrics.push(data)
        await self._meter.delegate.push(data)

    async def _handle_error(self, data: FramePushed) -> None:
        self._error = data.frame
        await self._errors.push(data)

    async def _handle_end(self, data: FramePushed) -> None:
        self._conversation.note_end("end-frame" if isinstance(data.frame, frames.EndFrame) else "cancelled")

    def _add_user_text(self, text: str, *, is_new_turn: bool = False) -> None:
        self._turns.add_user_text(text, time.time(), language=self._language, is_new_turn=is_new_turn)

    def _add_spoken_words(self, until: int | None) -> None:
        text = self._spoken_words.take(until)
        if text:
            self._turns.add_bot_text(text, time.time())

    def _on_speech(self, _: BaseObserver, event: Any) -> None:
        at = event.timestamp
        match event.kind:
            case "user_speech_started":
                self._turns.start_user_speech(at)
            case "user_speech_stopped":
                self._turns.stop_user_speech(at)
            case "user_turn_started":
                self._turns.start_user_turn(at)
            case "user_turn_stopped":
                self._turns.release_user_turn(at)
            case "bot_speech_started":
                self._turns.start_bot_speech(at)
            case "bot_speech_stopped":
                self._turns.stop_bot_speech(at)
            case "interruption":
                self._turns.interrupt()

    def _on_tool(self, _: BaseObserver, event: Any) -> None:
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
            if event.kind not in _TOOL_STATES:
                self._writer.write("tool", **line, state="running", to=None)
                return
        if event.kind in _TOOL_STATES:
            del self._calls[call]
            self._turns.end_tool(call)
            self._writer.write(
                "tool",
                **line,
                state=_TOOL_STATES[event.kind],
                to=self._writer.to_ms(event.timestamp),
                result=_to_json(event.result),
                message=event.error if self._writer.has_text else None,
            )

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


def _contains(processors: Iterable[FrameProcessor], kind: Any) -> bool:
    return kind is not None and any(isinstance(processor, kind) for processor in processors)


def _to_json(value: Any) -> str | None:
    """Return arguments or a result of a tool as JSON. Text stays as it is.

    It is cut if it is very long. The writer cuts it again after redaction, which must not see half of a number.
    """
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text[: 2 * TOOL_TEXT_CHARACTERS]
