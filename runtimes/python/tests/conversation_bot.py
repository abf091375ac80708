"""A Pipecat bot with services that need no vendor. The body of its start request says what the user does.

`says`: the user's texts, one for each turn. `interrupts`: whether the user speaks while the bot is speaking.
`turns`: `voice` if the bot has voice detection, `service` if a service decides the turns.
"""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    EndFrame,
    Frame,
    FunctionCallFromLLM,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMRunFrame,
    LLMTextFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair, LLMUserAggregatorParams
from pipecat.processors.frame_processor import FrameDirection
from pipecat.runner.utils import create_transport
from pipecat.serializers.protobuf import ProtobufFrameSerializer
from pipecat.services.llm_service import LLMService
from pipecat.services.stt_service import STTService
from pipecat.services.tts_service import TTSService
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams
from pipecat.turns.user_stop import SpeechTimeoutUserTurnStopStrategy
from pipecat.turns.user_turn_strategies import ExternalUserTurnStrategies, UserTurnStrategies
from pipecat.utils.errors import ErrorCategory
from pipecat.workers.runner import WorkerRunner

transport_params = {
    "websocket": lambda: FastAPIWebsocketParams(audio_out_enabled=True, serializer=ProtobufFrameSerializer()),
}


class Ears(STTService):
    """Plays the user, instead of transcribing audio."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self._body = body
        self._bot_started, self._bot_stopped = asyncio.Event(), asyncio.Event()

    async def run_stt(self, _: bytes) -> AsyncGenerator[Frame | None, None]:
        yield None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, BotStartedSpeakingFrame):
            self._bot_started.set()
        if isinstance(frame, BotStoppedSpeakingFrame):
            self._bot_stopped.set()

    async def play(self) -> None:
        await self._bot_stopped.wait()
        for text in self._body["says"]:
            self._bot_started.clear()
            self._bot_stopped.clear()
            await self._say(text)
            await (self._bot_started if self._body.get("interrupts") else self._bot_stopped).wait()
            # The bot's first sentence takes less time, and both take more.
            await asyncio.sleep(0.6)
        await self._bot_stopped.wait()

    async def _say(self, text: str) -> None:
        has_voice = self._body["turns"] == "voice"
        if has_voice:
            await self.push_frame(VADUserStartedSpeakingFrame(start_secs=0.1))
        else:
            await self.broadcast_frame(UserStartedSpeakingFrame)
            await self.broadcast_interruption()  # type: ignore[no-untyped-call]
        await asyncio.sleep(0.4)
        if has_voice:
            await self.push_frame(VADUserStoppedSpeakingFrame(stop_secs=0.1))
        await self.push_frame(TranscriptionFrame(text, "user", "", finalized=True))
        if not has_voice:
            await self.broadcast_frame(UserStoppedSpeakingFrame)


class Brain(LLMService):
    """Answers with a sentence, a tool or a failure, depending on the last message."""

    def can_generate_metrics(self) -> bool:
        return True

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if not isinstance(frame, LLMContextFrame):
            await self.push_frame(frame, direction)
            return
        last: Any = frame.context.messages[-1] if frame.context.messages else {}
        text = str(last.get("content", "")) if last.get("role") == "user" else ""
        await self.push_frame(LLMFullResponseStartFrame())
        await self.start_ttfb_metrics()
        await asyncio.sleep(0.05)
        await self.stop_ttfb_metrics()
        if text in ("look", "fail", "hang"):
            call = FunctionCallFromLLM(text, f"call-{text}", {"place": "secret place"}, frame.context)
            await self.run_function_calls([call])
        elif text == "key":
            await self.push_error("The key sk-1 of Ada was rejected", category=ErrorCategory.AUTHENTICATION)
        elif text == "model":
            try:
                raise ValueError("The model said something secret")
            except ValueError as error:
                await self.push_error(str(error), exception=error)
        if text not in ("look", "fail", "hang"):
            for word in f"You said {text}. I answer you in full.".split():
                await self.push_frame(LLMTextFrame(f"{word} "))
        await self.push_frame(LLMFullResponseEndFrame())


class Mouth(TTSService):
    """Says silence: 30 ms for each character."""

    def can_generate_metrics(self) -> bool:
        return True

    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame | None, None]:
        await self.start_tts_usage_metrics(text)
        for _ in range(len(text)):
            audio = bytes(self.sample_rate * 3 // 100 * 2)
            yield TTSAudioRawFrame(audio=audio, sample_rate=self.sample_rate, num_channels=1, context_id=context_id)


async def look(params: Any) -> None:
    await params.result_callback({"seen": "secret thing"})


async def fail(_: Any) -> None:
    raise RuntimeError("no secret thing")


async def hang(_: Any) -> None:
    await asyncio.sleep(60)


async def bot(args: Any) -> None:
    body = args.body
    transport = await create_transport(args, transport_params)
    ears, brain = Ears(body), Brain()
    brain.register_function("look", look)
    brain.register_function("fail", fail)
    brain.register_function("hang", hang, timeout_secs=0.3)
    strategies = (
        UserTurnStrategies(stop=[SpeechTimeoutUserTurnStopStrategy(user_speech_timeout=0.1)])
        if body["turns"] == "voice"
        else ExternalUserTurnStrategies()
    )
    pair = LLMContextAggregatorPair(LLMContext(), user_params=LLMUserAggregatorParams(user_turn_strategies=strategies))
    mouth = Mouth(push_start_frame=True, push_stop_frames=True, sample_rate=16_000)
    aggregated = [pair.user(), brain, mouth, transport.output(), pair.assistant()]
    worker = PipelineWorker(
        Pipeline([transport.input(), ears, *aggregated]),
        params=PipelineParams(
            enable_metrics=body["metrics"], enable_usage_metrics=body["metrics"], audio_out_sample_rate=16_000
        ),
    )

    @transport.event_handler("on_client_connected")
    async def on_client_connected(_transport: Any, _client: Any) -> None:
        await worker.queue_frames([LLMRunFrame()])
        playing.append(asyncio.create_task(play()))

    async def play() -> None:
        await ears.play()
        await worker.queue_frames([EndFrame()])

    playing: list[asyncio.Task[None]] = []
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await runner.run()
