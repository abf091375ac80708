"""Passes the audio of a pipeline to the recording of its session."""

from typing import TYPE_CHECKING, Any

from pipecat.frames import frames
from pipecat.observers.base_observer import FramePushed
from pipecat.transports.base_input import BaseInputTransport
from pipecat.transports.base_output import BaseOutputTransport

from .frame_handlers import FrameHandlers
from .response_meter import ResponseMeter

if TYPE_CHECKING:
    from .recorder import SessionRecorder


class AudioTap:
    """Passes the first audio of a response to the meter, and all audio to the recorder, if there is one."""

    def __init__(self, meter: ResponseMeter, recorder: "SessionRecorder | None") -> None:
        """Prepare to receive frames."""
        self._meter = meter
        self._recorder = recorder

    def list_handlers(self) -> FrameHandlers:
        """Return a handler for each class of audio. Without a recorder, most audio has none."""
        if self._recorder is None:
            return [(frames.TTSAudioRawFrame, self._meter.push_audio)]
        return [
            (frames.InputAudioRawFrame, self._handle_user_audio),
            (frames.OutputAudioRawFrame, self._handle_bot_audio),
        ]

    def interrupt_bot(self) -> None:
        """Remove audio of the bot that its client has not played yet."""
        if self._recorder is not None:
            self._recorder.interrupt_bot()

    async def _handle_user_audio(self, data: FramePushed) -> None:
        if self._recorder is not None and isinstance(data.source, BaseInputTransport):
            frame: Any = data.frame
            # Some transports receive each participant separately.
            self._recorder.add("user", (data.source.id, getattr(frame, "user_id", None)), frame)

    async def _handle_bot_audio(self, data: FramePushed) -> None:
        if isinstance(data.frame, frames.TTSAudioRawFrame):
            await self._meter.push_audio(data)
        # The output transport pushes audio after it was sent. Audio of other processors may never be heard.
        if self._recorder is not None and isinstance(data.source, BaseOutputTransport):
            frame: Any = data.frame
            key = (data.source.id, frame.transport_destination)
            # Transports with this attribute wait for the time at which the client has played what it received before.
            # Others wait until the frame was played.
            self._recorder.add("bot", key, frame, begins_now=hasattr(data.source, "_send_interval"))
