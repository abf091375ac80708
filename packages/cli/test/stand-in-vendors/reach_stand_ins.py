"""Connects an unchanged bot to the stand-in vendors.

Pipecat imports the files in PIPECAT_SETUP_FILES into every bot, and calls this hook before the services connect. OpenAI's HTTP
requests follow OPENAI_BASE_URL; the other addresses can only be changed on the objects.
"""

import os
from collections.abc import Iterator

from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frame_processor import FrameProcessor


async def setup_pipeline_worker(worker: PipelineWorker) -> None:
    """Set the address of its stand-in on each service."""
    address = os.environ["STAND_INS"]
    for service in processors(worker._pipeline):
        name = type(service).__name__
        if name == "DeepgramSTTService":
            service._client = deepgram(address)
        elif name == "CartesiaTTSService":
            service._url = f"ws://{address}/tts/websocket"
        elif name == "OpenAIResponsesLLMService":
            service._ws_url = f"ws://{address}/v1/responses"


def deepgram(address: str):
    """Create a client of the vendor's package for another address."""
    from deepgram import AsyncDeepgramClient, DeepgramClientEnvironment

    web, socket = f"http://{address}", f"ws://{address}"
    environment = DeepgramClientEnvironment(
        base=web, production=socket, agent=socket, agent_rest=web
    )
    return AsyncDeepgramClient(api_key=os.environ["DEEPGRAM_API_KEY"], environment=environment)


def processors(of: FrameProcessor) -> Iterator[FrameProcessor]:
    """Yield a pipeline and its nested pipelines."""
    for processor in of.processors:
        yield processor
        yield from processors(processor)
