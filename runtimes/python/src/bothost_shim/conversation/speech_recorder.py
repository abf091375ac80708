"""Records who speaks when, from the frames of voice detection, turns and transports."""

from typing import Any

from pipecat.frames import frames
from pipecat.observers.base_observer import BaseObserver, FramePushed
from pipecat.processors.frame_processor import FrameDirection

from .audio_tap import AudioTap
from .frame_handlers import FrameHandlers
from .pipecat_observers import Delegate, is_copy
from .response_meter import ResponseMeter
from .text_recorder import TextRecorder
from .turns import TurnRecorder


class SpeechRecorder:
    """Passes the moments of speech to the turns and to the meter."""

    def __init__(self, turns: TurnRecorder, meter: ResponseMeter, texts: TextRecorder, audio: AudioTap) -> None:
        """Prepare to receive frames."""
        self._turns, self._meter, self._texts, self._audio = turns, meter, texts, audio
        self.delegate = Delegate("SpeakingObserver", {"on_speech_event": self._on_speech})

    def list_handlers(self) -> FrameHandlers:
        """Return a handler for each class of frames that says who speaks."""
        return [
            (frames.VADUserStartedSpeakingFrame, self._handle_voice),
            (frames.VADUserStoppedSpeakingFrame, self._handle_silence),
            (frames.UserStartedSpeakingFrame, self._handle_turn_start),
            (frames.UserStoppedSpeakingFrame, self._handle_release),
            (frames.BotStartedSpeakingFrame, self._handle_bot_start),
            (frames.BotStoppedSpeakingFrame, self._handle_bot_stop),
            (frames.InterruptionFrame, self._handle_interruption),
        ]

    async def _handle_voice(self, data: FramePushed) -> None:
        # The user aggregator pushes the frames of voice detection in both directions without marking one as a copy.
        if data.direction == FrameDirection.DOWNSTREAM:
            await self.delegate.push(data)
            await self._meter.start_voice(data)

    async def _handle_silence(self, data: FramePushed) -> None:
        if data.direction == FrameDirection.DOWNSTREAM:
            await self.delegate.push(data)
            await self._meter.stop_voice(data)

    async def _handle_turn_start(self, data: FramePushed) -> None:
        if not is_copy(data):
            await self.delegate.push(data)
            await self._meter.start_turn(data)

    async def _handle_release(self, data: FramePushed) -> None:
        if not is_copy(data) and self._turns.is_user_turn_open:
            await self.delegate.push(data)
            await self._meter.release_turn(data)

    async def _handle_bot_start(self, data: FramePushed) -> None:
        if not is_copy(data):
            await self.delegate.push(data)
            await self._meter.start_bot_speech(data)

    async def _handle_bot_stop(self, data: FramePushed) -> None:
        if not is_copy(data):
            self._texts.add_spoken_words(None)
            await self.delegate.push(data)

    async def _handle_interruption(self, data: FramePushed) -> None:
        if not is_copy(data):
            self._audio.interrupt_bot()
            await self.delegate.push(data)
            self._texts.add_spoken_words(data.timestamp)
            await self._meter.interrupt(data)

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
