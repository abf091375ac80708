"""A Pipecat bot that answers each sound of the user with a tone of 1.5 s, and stops when the user interrupts it."""

from typing import Any

import numpy as np
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    Frame,
    InputAudioRawFrame,
    TTSAudioRawFrame,
    TTSStoppedFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.runner.utils import create_transport
from pipecat.serializers.protobuf import ProtobufFrameSerializer
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams
from pipecat.workers.runner import WorkerRunner

# Not the sample rate of a recording.
RATE = 24_000
SECONDS = 1.5
# Packets of 20 ms without sound, after which the user has finished.
SILENT_PACKETS = 10

transport_params = {
    "websocket": lambda: FastAPIWebsocketParams(
        audio_in_enabled=True, audio_out_enabled=True, serializer=ProtobufFrameSerializer()
    ),
}


class Answerer(FrameProcessor):
    """Answers when the user has finished."""

    def __init__(self) -> None:
        super().__init__()
        self._silent_packets: int | None = None
        self._is_bot_speaking = False

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, BotStartedSpeakingFrame):
            self._is_bot_speaking = True
        if isinstance(frame, BotStoppedSpeakingFrame):
            self._is_bot_speaking = False
        if isinstance(frame, InputAudioRawFrame):
            await self._hear(np.frombuffer(frame.audio, np.int16))
        else:
            await self.push_frame(frame, direction)

    async def _hear(self, samples: Any) -> None:
        if np.abs(samples).max(initial=0) > 1_000:
            self._silent_packets = 0
            if self._is_bot_speaking:
                await self.broadcast_interruption()  # type: ignore[no-untyped-call]
        elif self._silent_packets is not None:
            self._silent_packets += 1
            if self._silent_packets == SILENT_PACKETS:
                self._silent_packets = None
                tone = 8_000 * np.sin(2 * np.pi * 440 * np.arange(round(SECONDS * RATE)) / RATE)
                await self.push_frame(TTSAudioRawFrame(tone.astype(np.int16).tobytes(), RATE, 1))
                await self.push_frame(TTSStoppedFrame())


async def bot(args: Any) -> None:
    transport = await create_transport(args, transport_params)
    worker = PipelineWorker(
        Pipeline([transport.input(), Answerer(), transport.output()]),
        params=PipelineParams(audio_in_sample_rate=16_000, audio_out_sample_rate=RATE),
    )

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(_transport: Any, _client: Any) -> None:
        await worker.cancel()

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await runner.run()
