"""Measures how long the bot takes to respond, with Pipecat's `UserBotLatencyObserver`."""

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pipecat.frames.frames import Frame, VADUserStartedSpeakingFrame, VADUserStoppedSpeakingFrame
from pipecat.observers.base_observer import BaseObserver, FramePushed
from pipecat.processors.frame_processor import FrameDirection

from .pipecat_observers import Delegate
from .response_parts import divide_response
from .session_conversation import SessionConversation

if TYPE_CHECKING:
    from .turns import MeasuredFrom

# Maximum seconds from the end of the user's speech to the turn that begins because of it.
_TURN_DELAY_SECONDS = 5.0


class ResponseMeter:
    """Measures from the user's silence, or from the release of the turn if the bot has no voice detection of its own.

    Pipecat's observer measures from silence only. To measure from the release, this class passes frames of voice
    detection to it that the pipeline does not have.
    """

    def __init__(self, conversation: SessionConversation) -> None:
        """Create a meter that has seen nothing yet."""
        self._conversation = conversation
        self._turns = conversation.turns
        self.delegate = Delegate(
            "UserBotLatencyObserver",
            {
                "on_latency_measured": self._keep("latency"),
                "on_latency_breakdown": self._keep("breakdown"),
                "on_first_bot_speech_latency": self._keep("first_speech"),
            },
        )
        # What Pipecat's observer measured for the speech of the bot that just began.
        self._measured: dict[str, Any] = {}
        self._is_voice_active = False
        # The frame that reported the user's silence from which the next response is measured.
        self._silence: FramePushed | None = None
        self._released_at: float | None = None
        # Whether the bot has not sent audio in its response yet.
        self._awaits_audio = True

    @property
    def knows_silence(self) -> bool:
        """Whether voice detection reported that the user is speaking, or fell silent before the next response."""
        return self._is_voice_active or self._silence is not None

    async def start_voice(self, data: FramePushed) -> None:
        """Receive a frame that the user's voice began."""
        self._is_voice_active, self._silence = True, None
        await self.delegate.push(data)

    async def stop_voice(self, data: FramePushed) -> None:
        """Receive a frame that the user fell silent."""
        self._is_voice_active, self._silence, self._awaits_audio = False, data, True
        await self.delegate.push(data)

    async def start_turn(self, data: FramePushed) -> None:
        """Receive a frame that a turn of the user began."""
        if self._silence is not None and time.time() - _silent_since(self._silence) > _TURN_DELAY_SECONDS:
            # That silence followed other speech, which began no turn.
            self._silence = None
        await self.delegate.push(data)

    async def release_turn(self, data: FramePushed) -> None:
        """Receive a frame that the user's part of the turn ended."""
        self._released_at, self._awaits_audio = time.time(), True
        if not self.knows_silence:
            await self.measure_from_now(data)
        await self.delegate.push(data)

    async def measure_from_now(self, data: FramePushed) -> None:
        """Measure the next response from now instead of from the user's silence."""
        self._released_at, self._silence = time.time(), None
        for frame in (VADUserStartedSpeakingFrame(), VADUserStoppedSpeakingFrame()):
            await self.delegate.push(_with_frame(data, frame))

    async def interrupt(self, data: FramePushed) -> None:
        """Receive a frame of an interruption."""
        self._awaits_audio = True
        await self.delegate.push(data)
        if self._silence is not None and self._turns.is_user_turn_open:
            # The turn began after the user fell silent. The interruption made Pipecat's observer forget this silence.
            await self.delegate.push(self._silence)

    async def push_stage(self, data: FramePushed) -> None:
        """Receive a frame with which a stage of a response begins."""
        self._awaits_audio = True
        await self.delegate.push(data)

    async def push_audio(self, data: FramePushed) -> None:
        """Receive synthesized audio. Only the first audio of a response is of interest."""
        if self._awaits_audio:
            self._awaits_audio = False
            await self.delegate.push(data)

    async def start_bot_speech(self, data: FramePushed) -> None:
        """Receive a frame that the bot began to speak, and write the response."""
        now = time.time()
        self._measured = {}
        await self.delegate.push(data)
        if self._turns.may_respond(needs_words=self._conversation.has_speech_recognition):
            self._write(now)
        self._silence = self._released_at = None

    def _keep(self, name: str) -> Any:
        def handle(_: BaseObserver, value: Any) -> None:
            self._measured[name] = value

        return handle

    def _write(self, now: float) -> None:
        is_greeting = self._turns.turn == 0
        breakdown = self._measured.get("breakdown")
        seconds = self._measured.get("first_speech" if is_greeting else "latency")
        origin = "client_connected" if is_greeting else "user_silence"
        measured_from: MeasuredFrom = "connect" if is_greeting else "silence" if self._silence else "release"
        if breakdown is not None and breakdown.contributions and breakdown.measured_from == origin:
            # Pipecat's observer does not report the start of a greeting's contributions.
            start = breakdown.user_turn_start_time or now - breakdown.total_secs
            end = start + breakdown.total_secs
            parts = divide_response(breakdown.contributions, start, end, self._turn_detection())
            self._turns.respond(start, end, measured_from, parts)
        elif seconds is not None and (is_greeting or self._silence or self._released_at is not None):
            self._turns.respond(now - seconds, now, measured_from, [])
        elif self._released_at is not None:
            self._turns.respond(self._released_at, now, "release", [])

    def _turn_detection(self) -> tuple[float, float] | None:
        if self._silence is None or self._released_at is None:
            return None
        frame: Any = self._silence.frame
        return frame.timestamp, self._released_at


def _silent_since(data: FramePushed) -> float:
    frame: Any = data.frame
    return float(frame.timestamp - frame.stop_secs)


def _with_frame(data: FramePushed, frame: Frame) -> FramePushed:
    return replace(data, frame=frame, direction=FrameDirection.DOWNSTREAM)
