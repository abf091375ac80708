"""Connects an unchanged bot to the stand-in vendors.

Pipecat imports the files in PIPECAT_SETUP_FILES into every bot, and calls `setup_pipeline_worker`
before the services connect. OpenAI's HTTP requests follow OPENAI_BASE_URL. All other URLs can be
changed only on the service objects.
"""

import os
from collections.abc import Iterator

from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frame_processor import FrameProcessor


async def setup_pipeline_worker(worker: PipelineWorker) -> None:
    """Replace the vendor's URL in each service by the URL of its stand-in."""
    address = os.environ["STAND_INS"]
    for service in walk_pipeline_processors(worker._pipeline):
        name = type(service).__name__
        if name == "DeepgramSTTService":
            service._client = create_deepgram_client(address)
        elif name == "DeepgramFluxSTTService":
            service._url = f"ws://{address}/v2/listen"
        elif name == "CartesiaTTSService":
            service._url = f"ws://{address}/tts/websocket"
        elif name == "OpenAIResponsesLLMService":
            service._ws_url = f"ws://{address}/v1/responses"


def create_deepgram_client(address: str):
    """Create Deepgram's client with another URL."""
    from deepgram import AsyncDeepgramClient, DeepgramClientEnvironment

    web, socket = f"http://{address}", f"ws://{address}"
    environment = DeepgramClientEnvironment(
        base=web, production=socket, agent=socket, agent_rest=web
    )
    return AsyncDeepgramClient(api_key=os.environ["DEEPGRAM_API_KEY"], environment=environment)


def walk_pipeline_processors(of: FrameProcessor) -> Iterator[FrameProcessor]:
    """Yield the processors of a pipeline and of its nested pipelines."""
    for processor in of.processors:
        yield processor
        yield from walk_pipeline_processors(processor)
