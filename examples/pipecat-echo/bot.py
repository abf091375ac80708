"""A Pipecat bot that lets its caller hear themselves. It needs no vendor's key.

On your own machine, with Pipecat's development runner and its page in the browser:

    python bot.py

As it is, with nothing changed, on the service:

    botcli cloud deploy
"""

from loguru import logger
from pipecat.evals.transport import EvalTransportParams
from pipecat.frames.frames import Frame, InputAudioRawFrame, OutputAudioRawFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.runner.types import RunnerArguments, SmallWebRTCRunnerArguments, WebSocketRunnerArguments
from pipecat.runner.utils import create_transport
from pipecat.serializers.protobuf import ProtobufFrameSerializer
from pipecat.transports.base_transport import BaseTransport, TransportParams
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams
from pipecat.workers.runner import WorkerRunner


class Echo(FrameProcessor):
    """Sends back what the caller says. This is where speech to text, a model and text to speech would be."""

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, InputAudioRawFrame):
            frame = OutputAudioRawFrame(
                audio=frame.audio, sample_rate=frame.sample_rate, num_channels=frame.num_channels
            )
        await self.push_frame(frame, direction)


# One entry for each way to talk to the bot; only the one that a session uses is built.
transport_params = {
    # A browser, peer to peer.
    "webrtc": lambda: TransportParams(audio_in_enabled=True, audio_out_enabled=True),
    # A browser or a program over a WebSocket, with Pipecat's own frames.
    "websocket": lambda: FastAPIWebsocketParams(
        audio_in_enabled=True, audio_out_enabled=True, serializer=ProtobufFrameSerializer()
    ),
    # A telephone call. Pipecat wants TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN, to hang up with.
    "twilio": lambda: FastAPIWebsocketParams(audio_in_enabled=True, audio_out_enabled=True),
    # `pipecat eval run`.
    "eval": lambda: EvalTransportParams(audio_in_enabled=True, audio_out_enabled=True),
}


async def run_bot(transport: BaseTransport, arguments: RunnerArguments) -> None:
    worker = PipelineWorker(
        Pipeline([transport.input(), Echo(), transport.output()]),
        # The rate at which Pipecat's pipelines hear: an echo gains nothing from another.
        params=PipelineParams(audio_in_sample_rate=16000, audio_out_sample_rate=16000),
        idle_timeout_secs=arguments.pipeline_idle_timeout_secs,
    )

    @transport.event_handler("on_client_connected")
    async def on_client_connected(_transport: BaseTransport, _client: object) -> None:
        # `body` is what the start request carried.
        logger.info(f"A client is here; the body of its start has {len(arguments.body or {})} keys")

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(_transport: BaseTransport, _client: object) -> None:
        logger.info("The client has left")
        # Ends the pipeline, and with it `bot()` and the session.
        await worker.cancel()

    # Who runs the bot handles the signals: the development runner, or the service.
    runner = WorkerRunner(handle_sigint=arguments.handle_sigint)
    await runner.add_workers(worker)
    await runner.run()


async def bot(arguments: RunnerArguments) -> None:
    """Called once for each session."""
    if not isinstance(arguments, SmallWebRTCRunnerArguments | WebSocketRunnerArguments):
        logger.info("Started without a transport: there is nobody to talk to. Try webrtc or websocket.")
        return
    await run_bot(await create_transport(arguments, transport_params), arguments)


if __name__ == "__main__":
    from pipecat.runner.run import main

    main()
