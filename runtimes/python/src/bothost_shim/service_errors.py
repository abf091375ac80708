"""Names the failing service in errors that Pipecat sends to clients, which contain only the text of its exception."""

import sys
from dataclasses import replace
from typing import Any


def name_services() -> None:
    """Change Pipecat's RTVI errors from `text` to `Service: text`, if the bot uses Pipecat. Needs no import of Pipecat.

    The method is not public: with a version of Pipecat that lacks it, errors stay as they are.
    """
    module = sys.modules.get("pipecat.processors.frameworks.rtvi.processor")
    processor: Any = getattr(module, "RTVIProcessor", None)
    send: Any = getattr(processor, "_send_error_frame", None)
    if send is None:
        return

    async def send_with_name(rtvi: Any, frame: Any) -> None:
        service = getattr(frame, "processor", None)
        # RTVI's own errors are about messages of the client.
        if service is not None and service is not rtvi:
            frame = replace(frame, error=f"{type(service).__name__}: {frame.error}")
        await send(rtvi, frame)

    processor._send_error_frame = send_with_name
