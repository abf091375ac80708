"""Observes a Pipecat pipeline and records its conversation."""

import inspect
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from loguru import logger
from pipecat.frames import frames
from pipecat.observers.base_observer import BaseObserver, FramePushed
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.transports.base_input import BaseInputTransport
from pipecat.transports.base_output import BaseOutputTransport

from .audio_tap import AudioTap
from .frame_handlers import FrameHandlers, HandlerTable
from .pipecat_observers import has_processor
from .response_meter import ResponseMeter
from .service_recorder import ServiceRecorder
from .session_conversation import SessionConversation
from .speech_recorder import SpeechRecorder
from .text_recorder import TextRecorder
from .tool_recorder import ToolRecorder

if TYPE_CHECKING:
    from collections.abc import Callable

# Frames that are remembered to tell their first push from further ones, for Pipecat before 1.12.
_REMEMBERED_FRAMES = 1_000


class ConversationObserver(BaseObserver):
    """Records the conversation of one pipeline. It never raises into the pipeline.

    It discards frames by their class before anything else, because most of them are audio. Recorders of one kind of
    frame each pass the others to Pipecat's own observers.
    """

    def __init__(self, conversation: SessionConversation, processors: list[FrameProcessor]) -> None:
        """Prepare to observe the pipeline that has these processors."""
        self._is_called_once = "observe_every_push" in inspect.signature(BaseObserver.__init__).parameters
        super().__init__(**({"observe_every_push": False} if self._is_called_once else {}))
        self._conversation = conversation
        self._meter = ResponseMeter(conversation)
        self._pushed: OrderedDict[int, None] = OrderedDict()
        self._is_broken = False
        # Called when the pipeline pushes its first frame.
        self.at_start: list[Callable[[], None]] = []
        services, tools = ServiceRecorder(conversation, self._meter), ToolRecorder(conversation, self._meter)
        self._delegates = [self._meter.delegate, tools.delegate, *services.delegates]
        handlers: FrameHandlers = [
            (frames.StartFrame, self._handle_start),
            *services.list_handlers(),
            *tools.list_handlers(),
        ]
        # Several pipelines of a session can work together. Its turns are those of the pipeline with the transport.
        if has_processor(processors, BaseInputTransport) or has_processor(processors, BaseOutputTransport):
            handlers += self._list_transport_handlers(processors)
        self._handlers = HandlerTable(handlers)

    def _list_transport_handlers(self, processors: list[FrameProcessor]) -> FrameHandlers:
        """Return a handler for each class of frames of a pipeline that talks with the client."""
        audio = AudioTap(self._meter, self._conversation.record_audio())
        texts = TextRecorder(self._conversation, self._meter, processors)
        speech = SpeechRecorder(self._conversation.turns, self._meter, texts, audio)
        self._delegates.append(speech.delegate)
        return [
            *audio.list_handlers(),
            *speech.list_handlers(),
            *texts.list_handlers(),
            (frames.LLMTextFrame, self._meter.delegate.push),
            (frames.LLMFullResponseStartFrame, self._meter.push_stage),
            (getattr(frames, "LLMMarkerFrame", None), self._meter.push_stage),
            (frames.ClientConnectedFrame, self._meter.push_stage),
            (frames.EndFrame, self._handle_end),
            (frames.CancelFrame, self._handle_end),
        ]

    async def setup(self, task_manager: Any) -> None:
        """Set up this observer and those of Pipecat that it uses."""
        await super().setup(task_manager)
        for observer in self._list_observers():
            await observer.setup(task_manager)

    async def cleanup(self) -> None:
        """Clean up this observer and those of Pipecat that it uses."""
        for observer in self._list_observers():
            await observer.cleanup()
        await super().cleanup()  # type: ignore[no-untyped-call]

    def _list_observers(self) -> list[Any]:
        return [delegate.observer for delegate in self._delegates if delegate.observer is not None]

    async def on_pipeline_started(self) -> None:
        """Record that the pipeline has started."""
        if self._meter.delegate.observer is not None:
            await self._meter.delegate.observer.on_pipeline_started()

    async def on_push_frame(self, data: FramePushed) -> None:
        """Record what a frame says about the conversation, when it is pushed for the first time."""
        handler = self._handlers.find(data.frame)
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

    async def _handle_end(self, data: FramePushed) -> None:
        self._conversation.note_end("end-frame" if isinstance(data.frame, frames.EndFrame) else "cancelled")
