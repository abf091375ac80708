"""A Pipecat bot that echoes its caller. It needs no API key.

To run the bot on your own machine, with the web page of Pipecat's development runner, use this
command:

    python bot.py

To deploy the same file to the service, use this command:

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
    """Sends the caller's audio back. A real bot uses speech to text, a model and text to speech instead."""

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, InputAudioRawFrame):
            frame = OutputAudioRawFrame(
                audio=frame.audio, sample_rate=frame.sample_rate, num_channels=frame.num_channels
            )
        await self.push_frame(frame, direction)


# Maps each transport to a function that creates its parameters. A session calls only the function
# of its own transport.
transport_params = {
    # This transport is for browsers that connect over WebRTC.
    "webrtc": lambda: TransportParams(audio_in_enabled=True, audio_out_enabled=True),
    # This transport is for browsers and programs that send Pipecat's frames over a WebSocket.
    "websocket": lambda: FastAPIWebsocketParams(
        audio_in_enabled=True, audio_out_enabled=True, serializer=ProtobufFrameSerializer()
    ),
    # This transport is for phone calls. To hang up, Pipecat needs the environment variables
    # TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN.
    "twilio": lambda: FastAPIWebsocketParams(audio_in_enabled=True, audio_out_enabled=True),
    # This transport is for the automated conversations of `pipecat eval run`.
    "eval": lambda: EvalTransportParams(audio_in_enabled=True, audio_out_enabled=True),
}


async def run_bot(transport: BaseTransport, arguments: RunnerArguments) -> None:
    worker = PipelineWorker(
        Pipeline([transport.input(), Echo(), transport.output()]),
        # The default input rate of Pipecat's pipelines, in hertz.
        params=PipelineParams(audio_in_sample_rate=16000, audio_out_sample_rate=16000),
        idle_timeout_secs=arguments.pipeline_idle_timeout_secs,
    )

    @transport.event_handler("on_client_connected")
    async def on_client_connected(_transport: BaseTransport, _client: object) -> None:
        # `arguments.body` is the body of the start request.
        logger.info(f"Client connected; the body of the start request has {len(arguments.body or {})} keys")

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(_transport: BaseTransport, _client: object) -> None:
        logger.info("Client disconnected")
        # End the pipeline. Then `bot()` returns and the session ends.
        await worker.cancel()

    # `handle_sigint` is false if the development runner or the host handles signals.
    runner = WorkerRunner(handle_sigint=arguments.handle_sigint)
    await runner.add_workers(worker)
    await runner.run()


async def bot(arguments: RunnerArguments) -> None:
    """Called once for each session."""
    if not isinstance(arguments, SmallWebRTCRunnerArguments | WebSocketRunnerArguments):
        logger.info("Started without a transport. Start with webrtc or websocket.")
        return
    await run_bot(await create_transport(arguments, transport_params), arguments)


if __name__ == "__main__":
    from pipecat.runner.run import main

    main()
