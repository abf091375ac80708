"""Records what both sides say."""

import time
from collections.abc import Iterable
from typing import Any

from pipecat.frames import frames
from pipecat.observers.base_observer import FramePushed
from pipecat.processors.frame_processor import FrameProcessor

from .frame_handlers import FrameHandlers
from .pipecat_observers import find_class, has_processor, is_copy
from .response_meter import ResponseMeter
from .session_conversation import SessionConversation
from .spoken_words import SpokenWords

# Classes that Pipecat 1.9 to 1.12 do not have.
_UserTextFrame = getattr(frames, "LLMContextUserTurnFrame", None)
_TypedTextFrame = find_class("processors.frameworks.rtvi.frames", "RTVISendTextFrame")
_RTVIProcessor = find_class("processors.frameworks.rtvi.processor", "RTVIProcessor")
_UserAggregator = find_class("processors.aggregators.llm_response_universal", "LLMUserAggregator")
_AssistantAggregator = find_class("processors.aggregators.llm_response_universal", "LLMAssistantAggregator")


class TextRecorder:
    """Passes texts to the turns: those of the context aggregators, or those of the services without aggregators."""

    def __init__(
        self, conversation: SessionConversation, meter: ResponseMeter, processors: Iterable[FrameProcessor]
    ) -> None:
        """Prepare to receive frames of a pipeline with these processors."""
        self._turns = conversation.turns
        self._has_text = conversation.writer.has_text
        self._meter = meter
        self._processors = list(processors)
        self._has_user_aggregator = has_processor(self._processors, _UserAggregator)
        self._has_assistant_aggregator = has_processor(self._processors, _AssistantAggregator)
        self._language: str | None = None
        self._spoken_words = SpokenWords()

    def list_handlers(self) -> FrameHandlers:
        """Return a handler for each class of frames with texts, and listen to events if they replace a class."""
        if _UserTextFrame is None:
            self._listen_to_user_aggregators()
        return [
            (frames.TranscriptionFrame, self._handle_transcription),
            (_UserTextFrame, self._handle_user_text),
            (_TypedTextFrame or frames.LLMMessagesAppendFrame, self._handle_typed_text),
            (frames.LLMContextAssistantTurnFrame, self._handle_bot_text),
            (frames.TTSTextFrame, self._handle_spoken_words),
        ]

    def add_spoken_words(self, until: int | None) -> None:
        """Record the words that the bot has spoken, up to a presentation time in nanoseconds."""
        text = self._spoken_words.take(until)
        if text:
            self._turns.add_bot_text(text, time.time())

    def _listen_to_user_aggregators(self) -> None:
        """Receive the user's text from an event, because Pipecat before 1.13 has no frame for it."""

        async def add_text(_: Any, message: Any) -> None:
            if message.content:
                self._add_user_text(message.content)

        for processor in self._processors:
            if _UserAggregator is not None and isinstance(processor, _UserAggregator):
                processor.add_event_handler("on_user_turn_message_added", add_text)

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
        text = None if is_copy(data) else _get_typed_text(data)
        if text is None:
            return
        now = time.time()
        self._turns.start_user_turn(now, is_typed=True)
        self._turns.add_user_text(text, now, is_typed=True)
        self._turns.release_user_turn(now)
        await self._meter.measure_from_now(data)

    async def _handle_bot_text(self, data: FramePushed) -> None:
        if not is_copy(data):
            frame: Any = data.frame
            self._turns.add_bot_text(frame.text, time.time())

    async def _handle_spoken_words(self, data: FramePushed) -> None:
        if self._has_text and not self._has_assistant_aggregator:
            self._spoken_words.add(data)

    def _add_user_text(self, text: str, *, is_new_turn: bool = False) -> None:
        self._turns.add_user_text(text, time.time(), language=self._language, is_new_turn=is_new_turn)


def _get_typed_text(data: FramePushed) -> str | None:
    """Return the text that the client sent. Older versions of Pipecat only push the message for the context."""
    frame: Any = data.frame
    if _TypedTextFrame is not None:
        return str(frame.text)
    if _RTVIProcessor is None or not isinstance(data.source, _RTVIProcessor) or len(frame.messages) != 1:
        return None
    [message] = frame.messages
    content = message.get("content") if message.get("role") == "user" else None
    return content if isinstance(content, str) else None
