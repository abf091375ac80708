"""Redaction of texts before they are written to the conversation file."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bothost_shim.conversation.redaction import Redactor, create_redactor
from bothost_shim.conversation.turns import TurnRecorder
from bothost_shim.conversation.writer import ConversationWriter

_ALL = ["phone", "email", "iban", "card"]
_FAILED = "[not kept: redact() failed]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My card is 4111 1111 1111 1111.", "My card is [card]."),
        ("4111-1111-1111-1111, expires 12/29", "[card], expires 12/29"),
        ("It is 4111, 1111, 1111, 1111, okay?", "It is [card], okay?"),
        ("4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "[card]"),
        ("4111111111111111", "[card]"),
        ("3782 822463 10005 123", "[card] 123"),
        ("Code 1234, then 4111 1111 1111 1111", "Code 1234, then [card]"),
        ('{"card":"4111 1111 1111 1111"}', '{"card":"[card]"}'),
        ("Mail me at Ann.O+x@mail.example.co.uk!", "Mail me at [email]!"),
        ("Call +49 30 1234567 or +1 (415) 555-0123.", "Call [phone] or [phone]."),
        ("Call 030 1234567, 0171/1234567 or (415) 555-0123", "Call [phone], [phone] or [phone]"),
        ("Call 415-555-0123.", "Call [phone]."),
        ("DE89 3704 0044 0532 0130 00 AND MORE", "[iban] AND MORE"),
        ("GB29NWBK60161331926819", "[iban]"),
    ],
)
def test_built_in_rules_redact(text: str, expected: str) -> None:
    """Cards, addresses, telephone numbers and IBANs are replaced, and the rest of the text stays."""
    assert Redactor(_ALL, None).redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Tomorrow at 12:30, or from 9:00 to 17:45",
        "That is 1,299.00 euros, or 12.50 a month, 3 for 2",
        "Your order is 48213, the other one 00123456",
        "Order 1234 5678, please",
        "On 2026-11-28, on 28.11.2026 or on 11/28/2026",
        "4111 1111 1111 1112 fails the check digit",
        "GB29 NWBK 6016 1331 9268 20 fails the check",
        "10, 20, 30, 40, 50, 60, 70, 80",
        "Version 3.11.7, room 12, floor 3",
        "one@ two @three",
        "Flight LH 2030 leaves from gate B 22",
    ],
)
def test_built_in_rules_keep_other_numbers(text: str) -> None:
    """Times, prices, dates and short numbers stay."""
    assert Redactor(_ALL, None).redact(text) == text


@pytest.mark.parametrize("text", ["1 " * 4_000, "4" * 8_000, "+1 " * 3_000, "a" * 8_000 + "@", "AB12 " * 2_000])
def test_long_texts_are_redacted_in_time(text: str) -> None:
    """Rules take linear time, because they run between two frames of audio."""
    started = time.process_time()
    Redactor(_ALL, None).redact(text)
    assert time.process_time() - started < 1


def test_agent_patterns_redact() -> None:
    """A rule between slashes is a regular expression of the agent."""
    assert Redactor([r"/\bC-\d{6}\b/"], None).redact("Customer C-123456") == "Customer [redacted]"


@pytest.mark.parametrize("header", ["x", "{}", "[1]", '["passport"]', '["/(/"]'])
def test_invalid_rules_raise(header: str) -> None:
    """Rules that the host does not know are an error, so that the session keeps no text."""
    with pytest.raises(ValueError, match=r"."):
        create_redactor(header, None)


def _record(path: Path, redactor: Redactor) -> ConversationWriter:
    path.touch()
    return ConversationWriter(str(path), "transcript", 0.0, redactor)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("function", [None, lambda text: text])
def test_number_in_two_parts_of_an_utterance_is_redacted(
    tmp_path: Path, function: Callable[[str], object] | None
) -> None:
    """What was said is redacted when it is complete, so that no line has the first half of a number."""
    path = tmp_path / "lines"
    writer = _record(path, Redactor(["card"], function))
    turns = TurnRecorder(writer)
    turns.start_user_turn(1.0)
    turns.add_user_text("My card is 4111 1111", 2.0)
    turns.add_user_text("1111 1111", 3.0)
    turns.release_user_turn(3.0)
    turns.start_bot_speech(4.0)
    turns.add_bot_text("Thank you.", 4.5)
    turns.stop_bot_speech(5.0)
    writer.close()
    assert [line["text"] for line in _lines(path) if line["kind"] == "said"] == ["My card is [card]", "Thank you."]
    assert "4111" not in path.read_text()


def test_all_texts_are_redacted_before_they_are_cut(tmp_path: Path) -> None:
    """Arguments, results and messages are redacted, also at the place where they are cut."""
    path = tmp_path / "lines"
    writer = _record(path, Redactor(["card"], None))
    long = "x" * 3_990 + " 4111 1111 1111 1111"
    writer.write("tool", arguments='{"card": "4111111111111111"}', result=long)
    writer.write("error", category="timeout", message="no 4111 1111 1111 1111")
    writer.close()
    tool, error = _lines(path)
    assert tool["arguments"] == '{"card": "[card]"}'
    assert tool["result"] == "x" * 3_990 + " [card]"
    assert error["message"] == "no [card]"


def test_text_is_dropped_if_the_function_of_the_bot_raises(tmp_path: Path) -> None:
    """A failure drops the text of its line only."""
    path = tmp_path / "lines"

    def redact(text: str) -> object:
        if text == "secret":
            raise RuntimeError(text)
        return 7 if text == "number" else text.upper()

    writer = _record(path, Redactor([], redact))
    for text in ("secret", "number", "hello"):
        writer.write("error", category="x", message=text)
    writer.close()
    assert [line["message"] for line in _lines(path)] == [_FAILED, _FAILED, "HELLO"]


def test_function_that_hangs_does_not_delay_the_call(tmp_path: Path) -> None:
    """The call does not wait, lines keep their order, and texts are dropped until the function returns."""
    path = tmp_path / "lines"
    released = threading.Event()

    def redact(text: str) -> str:
        released.wait()
        return text

    writer = _record(path, Redactor([], redact))
    writer.write("error", category="a", message="one")
    writer.write("usage", role="llm")
    writer.write("error", category="b", message="two")
    assert path.read_text() == ""
    writer.close()
    released.set()
    assert [line.get("message") for line in _lines(path)] == [_FAILED, None, _FAILED]
