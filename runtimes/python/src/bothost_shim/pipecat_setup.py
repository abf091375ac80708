"""Pipecat runs this file for each pipeline, because the environment variable PIPECAT_SETUP_FILES names it."""

from typing import Any


async def setup_worker_runner(_: Any) -> None:
    """Do nothing. Pipecat logs a warning about a file without this function."""


async def setup_pipeline_worker(worker: Any) -> None:
    """Observe a pipeline of the running session: its conversation, if that is recorded, and its room."""
    from bothost_shim.conversation.current import get_current_conversation
    from bothost_shim.room_events import observe_room

    observe_room(worker)
    conversation = get_current_conversation()
    if conversation is not None:
        from bothost_shim.conversation.attach import observe_worker

        observe_worker(conversation, worker)
