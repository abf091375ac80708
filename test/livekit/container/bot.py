"""Echoes the people in a room of LiveKit. `echo.py` is examples/pipecat-echo/bot.py."""

from echo import run_bot
from pipecat.runner.types import LiveKitRunnerArguments
from pipecat.runner.utils import create_transport
from pipecat.transports.livekit.transport import LiveKitParams

transport_params = {"livekit": lambda: LiveKitParams(audio_in_enabled=True, audio_out_enabled=True)}


async def bot(arguments: LiveKitRunnerArguments) -> None:
    """Run a session."""
    await run_bot(await create_transport(arguments, transport_params), arguments)
