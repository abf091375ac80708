"""A Pipecat bot that needs no vendors: it speaks by playing a tone, and treats every sound as speech."""

from pipecat.frames.frames import (
    AggregatedTextFrame,
    Frame,
    InputAudioRawFrame,
    LLMMessagesAppendFrame,
    MetricsFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    TTSStartedFrame,
    TTSStoppedFrame,
)
from pipecat.metrics.metrics import TTFBMetricsData
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.runner.types import RunnerArguments
from pipecat.runner.utils import create_transport
from pipecat.serializers.protobuf import ProtobufFrameSerializer
from pipecat.transports.base_transport import TransportParams
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams
from pipecat.workers.runner import WorkerRunner

SAMPLE_RATE = 16000
LOUDNESS_THRESHOLD = 1000


def create_speech_frames(text: str) -> list[Frame]:
    """Return the frames of a text-to-speech service for a sentence. Its audio is a tone of one second."""
    tone = (b"\x00\x10" * 40 + b"\x00\xf0" * 40) * (SAMPLE_RATE // 80)
    return [
        TTSStartedFrame(),
        AggregatedTextFrame(text, text_type="sentence"),
        TTSAudioRawFrame(audio=tone, sample_rate=SAMPLE_RATE, num_channels=1),
        TTSStoppedFrame(),
    ]


class AnsweringProcessor(FrameProcessor):
    """Answers typed text, and the first sound that the bot hears."""

    def __init__(self) -> None:
        super().__init__()
        self._heard = False

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        await self.push_frame(frame, direction)
        if isinstance(frame, LLMMessagesAppendFrame):
            await self.push_frame(MetricsFrame(data=[TTFBMetricsData(processor="Answer", value=0.25)]))
            for answer in create_speech_frames(f"You typed {frame.messages[0]['content']}"):
                await self.push_frame(answer)
        if self._heard or not isinstance(frame, InputAudioRawFrame):
            return
        if max(memoryview(frame.audio).cast("h"), default=0) > LOUDNESS_THRESHOLD:
            self._heard = True
            await self.push_frame(TranscriptionFrame("One tone at a time", "caller", "now"))
            for answer in create_speech_frames("I hear a tone"):
                await self.push_frame(answer)


transport_params = {
    "webrtc": lambda: TransportParams(audio_in_enabled=True, audio_out_enabled=True),
    "websocket": lambda: FastAPIWebsocketParams(
        audio_in_enabled=True, audio_out_enabled=True, serializer=ProtobufFrameSerializer()
    ),
}


async def bot(arguments: RunnerArguments) -> None:
    transport = await create_transport(arguments, transport_params)
    worker = PipelineWorker(
        Pipeline([transport.input(), AnsweringProcessor(), transport.output()]),
        params=PipelineParams(audio_in_sample_rate=SAMPLE_RATE, audio_out_sample_rate=SAMPLE_RATE),
    )

    @worker.rtvi.event_handler("on_client_ready")
    async def on_client_ready(_rtvi: object) -> None:
        await worker.queue_frames(create_speech_frames("Good morning, you are through"))

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(_transport: object, _client: object) -> None:
        await worker.cancel()

    runner = WorkerRunner(handle_sigint=arguments.handle_sigint)
    await runner.add_workers(worker)
    await runner.run()


if __name__ == "__main__":
    from pipecat.runner.run import main

    main()
