"""Divides a response into stages, from the contributions that Pipecat's `UserBotLatencyObserver` measured."""

from collections.abc import Iterable
from typing import Any

from .turns import ResponsePart

# Stages of packages/contract/src/conversation/lines.ts, by Pipecat's key of a contribution. A new key becomes its own
# stage.
_STAGES = {
    "endpointing_wait": "endpointing",
    "first_request": "bot",
    "llm_inference": "llm",
    "llm_tool_call": "llm",
    "awaiting_speakable_text": "llm",
    "function_handler": "tool",
    "sentence_aggregation": "aggregation",
    "speech_synthesis": "tts",
    "output_transport": "output",
    "waiting_for_user": "user",
}
# Pipecat's key for time that no single service accounts for. It can lie anywhere in a response.
_REST = "pipeline"


def divide_response(
    contributions: Iterable[Any], start: float, end: float, turn_detection: tuple[float, float] | None
) -> list[ResponsePart]:
    """Return parts that follow each other from `start` to `end`, from objects of Pipecat's `LatencyContribution`.

    Time without a contribution is a part `pipeline`, or `turn-detection` if it lies in the span `turn_detection`, which
    is the time from the end of voice detection to the release of the user's turn. Pipecat has no name for this time if
    the last transcript arrived before voice detection ended.
    """
    parts: list[ResponsePart] = []
    reached = start
    for one in sorted(contributions, key=lambda contribution: contribution.start_time):
        if one.key == _REST:
            continue
        part_start, part_end = max(reached, one.start_time), min(end, one.start_time + one.duration_secs)
        if part_end <= part_start:
            continue
        parts += _fill_gap(reached, part_start, turn_detection)
        stage = _STAGES.get(one.key, one.key.replace("_", "-"))
        has_service = one.owner_kind == "service"
        parts.append(ResponsePart(stage, one.owner if has_service else None, part_start, part_end))
        reached = part_end
    return parts + _fill_gap(reached, end, turn_detection)


def _fill_gap(start: float, end: float, turn_detection: tuple[float, float] | None) -> list[ResponsePart]:
    if end <= start:
        return []
    detection_start, detection_end = turn_detection or (start, start)
    detection_start, detection_end = max(start, detection_start), min(end, detection_end)
    if detection_end <= detection_start:
        return [ResponsePart("pipeline", None, start, end)]
    edges = [start, detection_start, detection_end, end]
    stages = ["pipeline", "turn-detection", "pipeline"]
    spans = zip(stages, edges, edges[1:], strict=False)
    return [ResponsePart(stage, None, left, right) for stage, left, right in spans if right > left]
