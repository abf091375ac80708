"""Adds the name of the failing service to errors that Pipecat sends to clients, which otherwise contain only the text
of the exception.
"""

import sys
from dataclasses import replace
from typing import Any


def prefix_errors_with_service_name() -> None:
    """Change Pipecat's RTVI errors from `text` to `Service: text`, if the bot uses Pipecat.

    Does not import Pipecat. If a version of Pipecat lacks the private method that is replaced, errors do not change.
    """
    module = sys.modules.get("pipecat.processors.frameworks.rtvi.processor")
    processor: Any = getattr(module, "RTVIProcessor", None)
    send: Any = getattr(processor, "_send_error_frame", None)
    if send is None:
        return

    async def send_with_name(rtvi: Any, frame: Any) -> None:
        service = getattr(frame, "processor", None)
        # Leave RTVI's own errors unchanged, because they concern messages of the client.
        if service is not None and service is not rtvi:
            frame = replace(frame, error=f"{type(service).__name__}: {frame.error}")
        await send(rtvi, frame)

    processor._send_error_frame = send_with_name
