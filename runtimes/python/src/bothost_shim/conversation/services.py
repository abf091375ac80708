"""Describes the services of a pipeline."""

from collections.abc import Iterator
from typing import Any

from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.ai_service import AIService
from pipecat.services.llm_service import LLMService
from pipecat.services.stt_service import STTService
from pipecat.services.tts_service import TTSService
from pipecat.transports.base_output import BaseOutputTransport

from .writer import to_name

_SERVICE_PACKAGE = "pipecat.services."


def walk_processors(pipeline: FrameProcessor) -> Iterator[FrameProcessor]:
    """Yield the processors of a pipeline and of its nested pipelines."""
    for processor in pipeline.processors:
        yield processor
        yield from walk_processors(processor)


def describe_service(processor: FrameProcessor) -> dict[str, Any] | None:
    """Return the service for the line `services`, or None if the processor is no service."""
    role = _role(processor)
    if role is None:
        return None
    model = getattr(getattr(processor, "_settings", None), "model", None)
    service = {
        "name": to_name(processor.name),
        "role": role,
        "vendor": _vendor(processor),
        "model": to_name(model) if isinstance(model, str) else None,
    }
    return {name: value for name, value in service.items() if value is not None}


def _role(processor: FrameProcessor) -> str | None:
    if isinstance(processor, STTService):
        return "stt"
    if isinstance(processor, TTSService):
        return "tts"
    if isinstance(processor, LLMService):
        return "speech-to-speech" if _is_speech_to_speech(processor) else "llm"
    if isinstance(processor, BaseOutputTransport):
        return "transport"
    return "service" if isinstance(processor, AIService) else None


def _is_speech_to_speech(service: LLMService) -> bool:
    try:
        return bool(getattr(service.service_metadata_frame(), "is_realtime_service", False))
    except Exception:
        # A service of the bot's author may need a running pipeline for this.
        return False


def _vendor(processor: FrameProcessor) -> str | None:
    for kind in type(processor).__mro__:
        if kind.__module__.startswith(_SERVICE_PACKAGE):
            vendor = kind.__module__.removeprefix(_SERVICE_PACKAGE).partition(".")[0]
            # `pipecat.services` itself contains the base classes.
            return None if vendor.endswith("_service") else vendor
    return None
