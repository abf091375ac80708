"""Tests of the turns of a conversation."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pipecat.observers.user_bot_latency_observer import LatencyContribution, LatencyOwnerKind

from bothost_shim.conversation.response_parts import divide_response
from bothost_shim.conversation.turns import ResponsePart, TurnRecorder
from bothost_shim.conversation.writer import ConversationWriter


class Conversation:
    """A recorder whose session started at the moment 0, and the latest version of each line that it wrote."""

    def __init__(self, path: Path) -> None:
        path.touch()
        self.path = path
        self.turns = TurnRecorder(ConversationWriter(str(path), "transcript", 0.0))

    def lines(self, kind: str) -> list[dict[str, Any]]:
        latest: dict[Any, dict[str, Any]] = {}
        for text in self.path.read_text().splitlines():
            line = json.loads(text)
            if line["kind"] == kind:
                key = line.get("turn") if kind in ("turn", "response") else (line["side"], line["from"])
                latest[key] = {name: value for name, value in line.items() if name not in ("kind", "at")}
        return list(latest.values())

    def greet(self) -> None:
        self.turns.start_bot_speech(1.0)
        self.turns.add_bot_text("Hello.", 1.5)
        self.turns.stop_bot_speech(2.0)

    def ask(self, at: float, text: str = "What?") -> None:
        """The user speaks for one second, and the turn is released half a second later."""
        self.turns.start_user_speech(at)
        self.turns.start_user_turn(at + 0.2)
        self.turns.stop_user_speech(at + 1)
        self.turns.hear_words()
        self.turns.add_user_text(text, at + 1.5)
        self.turns.release_user_turn(at + 1.5)


@pytest.fixture
def conversation(tmp_path: Path) -> Conversation:
    return Conversation(tmp_path / "conversation")


def test_greeting_is_turn_0_and_the_user_begins_turn_1(conversation: Conversation) -> None:
    conversation.greet()
    conversation.ask(3.0)
    conversation.turns.start_bot_speech(5.0)
    conversation.turns.add_bot_text("That.", 5.5)
    conversation.turns.stop_bot_speech(6.0)
    assert conversation.lines("turn") == [
        {"turn": 0, "from": 1000, "released": None, "to": 2000},
        {"turn": 1, "from": 3000, "released": 4500, "to": 6000},
    ]
    assert conversation.lines("said") == [
        {"turn": 0, "side": "bot", "text": "Hello.", "from": 1000, "to": 2000},
        {"turn": 1, "side": "user", "text": "What?", "from": 3000, "to": 4000},
        {"turn": 1, "side": "bot", "text": "That.", "from": 5000, "to": 6000},
    ]
    assert conversation.lines("speech") == [
        {"side": "bot", "from": 1000, "to": 2000, "turn": 0},
        {"side": "user", "from": 3000, "to": 4000, "turn": 1},
        {"side": "bot", "from": 5000, "to": 6000, "turn": 1},
    ]


def test_interruption_counts_once_for_the_turn_in_which_the_bot_spoke(conversation: Conversation) -> None:
    conversation.ask(1.0)
    conversation.turns.start_bot_speech(3.0)
    conversation.turns.start_user_speech(4.0)
    conversation.turns.start_user_turn(4.2)
    assert conversation.turns.interrupt()
    assert not conversation.turns.interrupt()
    conversation.turns.stop_bot_speech(4.3)
    conversation.turns.add_bot_text("The capital of", 4.3)
    assert [(turn["turn"], turn.get("interrupted")) for turn in conversation.lines("turn")] == [(1, True), (2, None)]
    assert conversation.lines("said")[-1] == {
        "turn": 1,
        "side": "bot",
        "text": "The capital of",
        "from": 3000,
        "to": 4300,
        "interrupted": True,
    }


def test_interruption_while_the_bot_is_silent_does_not_count(conversation: Conversation) -> None:
    conversation.greet()
    conversation.turns.start_user_turn(3.0)
    assert not conversation.turns.interrupt()
    assert all("interrupted" not in turn for turn in conversation.lines("turn"))


def test_speech_that_begins_no_turn_has_no_turn(conversation: Conversation) -> None:
    conversation.greet()
    conversation.turns.start_user_speech(3.0)
    conversation.turns.stop_user_speech(3.2)
    conversation.turns.start_user_turn(20.0)
    assert conversation.lines("speech")[-1] == {"side": "user", "from": 3000, "to": 3200}
    assert conversation.lines("turn")[-1]["from"] == 20_000


def test_turn_that_begins_with_a_late_transcript_includes_the_speech_before_it(conversation: Conversation) -> None:
    conversation.turns.start_user_speech(3.0)
    conversation.turns.stop_user_speech(3.4)
    conversation.turns.start_user_turn(4.0)
    assert conversation.lines("turn") == [{"turn": 1, "from": 3000, "released": None, "to": None}]
    assert conversation.lines("speech") == [{"side": "user", "from": 3000, "to": 3400, "turn": 1}]


def test_pieces_of_one_user_turn_are_joined(conversation: Conversation) -> None:
    conversation.ask(1.0, "What is")
    conversation.turns.add_user_text("the capital?", 2.6)
    assert [said["text"] for said in conversation.lines("said")] == ["What is the capital?"]


def test_typed_text_is_a_turn_of_its_own(conversation: Conversation) -> None:
    conversation.greet()
    conversation.turns.start_user_turn(3.0, is_typed=True)
    conversation.turns.add_user_text("Hi", 3.0, is_typed=True)
    assert conversation.lines("said")[-1] == {
        "turn": 1,
        "side": "user",
        "text": "Hi",
        "from": 3000,
        "to": 3000,
        "typed": True,
    }


def test_two_texts_of_the_same_speech_follow_each_other(conversation: Conversation) -> None:
    conversation.turns.start_bot_speech(1.0)
    conversation.turns.add_bot_text("Let me check.", 2.0)
    conversation.turns.add_bot_text("It is sunny.", 4.0)
    conversation.turns.stop_bot_speech(4.5)
    spans = [(said["text"], said["from"], said["to"]) for said in conversation.lines("said")]
    assert spans == [("Let me check.", 1000, 2000), ("It is sunny.", 2000, 4500)]


def test_tool_that_runs_before_the_bot_has_spoken_belongs_to_turn_0(conversation: Conversation) -> None:
    assert conversation.turns.start_tool("call", 1.0) == 0
    conversation.turns.end_tool("call")
    conversation.turns.start_bot_speech(2.0)
    assert [(line["turn"], line["from"]) for line in conversation.lines("turn")] == [(0, 1000)]


def test_turn_lasts_until_its_tool_has_ended_and_the_bot_has_spoken(conversation: Conversation) -> None:
    conversation.ask(1.0)
    assert conversation.turns.start_tool("call", 2.5) == 1
    conversation.turns.start_bot_speech(3.0)
    conversation.turns.stop_bot_speech(4.0)
    assert conversation.lines("turn")[-1]["to"] is None
    conversation.turns.end_tool("call")
    conversation.turns.start_bot_speech(5.0)
    conversation.turns.stop_bot_speech(6.0)
    assert conversation.lines("turn")[-1]["to"] == 6000


def test_end_of_the_session_ends_speech_and_turn(conversation: Conversation) -> None:
    conversation.ask(1.0)
    conversation.turns.start_bot_speech(3.0)
    conversation.turns.add_bot_text("Bye", 3.5)
    conversation.turns.close(4.0)
    assert conversation.lines("turn")[-1]["to"] == 4000
    assert conversation.lines("speech")[-1]["to"] == 4000
    assert conversation.lines("said")[-1]["to"] == 4000


def test_only_the_first_response_of_a_turn_is_written(conversation: Conversation) -> None:
    conversation.ask(1.0)
    for end in (3.0, 9.0):
        conversation.turns.respond(2.0, end, "silence", [])
    assert conversation.lines("response") == [
        {"turn": 1, "from": 2000, "ms": 1000, "measuredFrom": "silence", "parts": []}
    ]


def test_greeting_has_no_response_from_silence_and_a_turn_has_none_from_the_connection(
    conversation: Conversation,
) -> None:
    conversation.greet()
    conversation.turns.respond(1.0, 2.0, "silence", [])
    conversation.ask(3.0)
    conversation.turns.respond(1.0, 2.0, "connect", [])
    assert conversation.lines("response") == []


def test_noise_is_no_turn_to_respond_to(conversation: Conversation) -> None:
    conversation.turns.start_user_turn(1.0)
    conversation.turns.release_user_turn(2.0)
    assert not conversation.turns.may_respond(needs_words=True)
    conversation.turns.hear_words()
    assert conversation.turns.may_respond(needs_words=True)


def test_rounded_parts_add_up_to_the_response(conversation: Conversation) -> None:
    conversation.ask(1.0)
    edges = [2.0003 + index * 0.0107 for index in range(60)]
    parts = [ResponsePart("llm", "L", start, end) for start, end in pairwise(edges)]
    conversation.turns.respond(edges[0], edges[-1], "silence", parts)
    (response,) = conversation.lines("response")
    assert sum(part["ms"] for part in response["parts"]) == response["ms"]


def contribution(key: str, start: float, seconds: float, owner: str = "") -> LatencyContribution:
    kind = LatencyOwnerKind.SERVICE if owner else LatencyOwnerKind.SETTING
    return LatencyContribution(
        key=key, label=key, owner=owner, owner_kind=kind, start_time=start, duration_secs=seconds
    )


def test_gap_between_voice_detection_and_release_is_turn_detection() -> None:
    contributions = [
        contribution("endpointing_wait", 10.0, 0.2),
        contribution("llm_inference", 13.0, 0.5, "LLM"),
        contribution("speech_synthesis", 13.6, 0.4, "TTS"),
        contribution("pipeline", 10.0, 2.9),
    ]
    parts = divide_response(contributions, 10.0, 14.0, (10.2, 12.9))
    assert [(part.stage, part.service, part.start, part.end) for part in parts] == [
        ("endpointing", None, 10.0, 10.2),
        ("turn-detection", None, 10.2, 12.9),
        ("pipeline", None, 12.9, 13.0),
        ("llm", "LLM", 13.0, 13.5),
        ("pipeline", None, 13.5, 13.6),
        ("tts", "TTS", 13.6, 14.0),
    ]


def test_overlapping_and_unknown_contributions_become_parts_that_follow_each_other() -> None:
    contributions = [contribution("new_stage", 1.5, 1.0), contribution("function_handler", 1.0, 1.0, "weather +1")]
    parts = divide_response(contributions, 1.0, 2.2, None)
    assert [(part.stage, part.service, part.start, part.end) for part in parts] == [
        ("tool", "weather +1", 1.0, 2.0),
        ("new-stage", None, 2.0, 2.2),
    ]
