"""Builds the turns of a conversation from moments of speech, and writes them (docs/bot-contract.md, "Conversation")."""

from dataclasses import dataclass, field
from typing import Literal

from .writer import ConversationWriter

MeasuredFrom = Literal["silence", "release", "connect"]
# Maximum milliseconds from the end of the user's speech to the turn that begins because of it.
_TURN_DELAY_MS = 5_000


@dataclass
class ResponsePart:
    """A stage of a response. Times are Unix timestamps in seconds."""

    stage: str
    service: str | None
    start: float
    end: float


@dataclass
class _Speech:
    side: Literal["user", "bot"]
    from_ms: int
    turn: int | None
    to_ms: int | None = None


@dataclass
class _Turn:
    number: int
    from_ms: int
    released_ms: int | None = None
    to_ms: int | None = None
    is_interrupted: bool = False
    has_words: bool = False
    has_response: bool = False
    has_bot_speech: bool = False
    user_texts: list[str] = field(default_factory=list)


@dataclass
class _Utterance:
    """What the bot says, while it is still speaking."""

    turn: int
    text: str
    from_ms: int


class TurnRecorder:
    """Receives the moments of a conversation in the order in which they happened. Moments are Unix timestamps."""

    def __init__(self, writer: ConversationWriter) -> None:
        """Create a recorder that has seen nothing yet."""
        self._writer = writer
        self._latest: _Turn | None = None
        self._user_speech: _Speech | None = None
        self._bot_speech: _Speech | None = None
        # The turn in which the bot spoke last.
        self._bot_turn: _Turn | None = None
        self._running_tools: set[str] = set()
        # Start of the bot's speech whose text is not known yet.
        self._untold_from_ms: int | None = None
        self._is_bot_interrupted = False
        self._utterance: _Utterance | None = None

    @property
    def turn(self) -> int | None:
        """The number of the latest turn. None before the first one."""
        return None if self._latest is None else self._latest.number

    @property
    def is_user_turn_open(self) -> bool:
        """Whether the user has the floor."""
        turn = self._latest
        return turn is not None and turn.number > 0 and turn.released_ms is None

    @property
    def is_waiting_for_bot(self) -> bool:
        """Whether the user's part of the turn has ended and the bot has not spoken yet."""
        turn = self._latest
        return turn is not None and turn.released_ms is not None and not turn.has_bot_speech

    @property
    def is_bot_speaking(self) -> bool:
        """Whether the bot is speaking."""
        return self._bot_speech is not None and self._bot_speech.to_ms is None

    def start_user_speech(self, at: float) -> None:
        """Record that the user's voice began."""
        turn = self.turn if self.is_user_turn_open else None
        self._user_speech = _Speech("user", self._writer.to_ms(at), turn)
        self._write_speech(self._user_speech)

    def stop_user_speech(self, at: float) -> None:
        """Record that the user's voice fell silent."""
        self._close_speech(self._user_speech, self._writer.to_ms(at))

    def start_user_turn(self, at: float, *, is_typed: bool = False) -> None:
        """Record that a turn of the user began. Does nothing if the user already has the floor, but for typed text."""
        if self.is_user_turn_open and self._latest is not None and not self._latest.has_bot_speech and not is_typed:
            return
        at_ms = self._writer.to_ms(at)
        speech = None if is_typed else self._user_speech
        if speech is None or speech.turn is not None or (speech.to_ms or at_ms) < at_ms - _TURN_DELAY_MS:
            self._begin_turn(at_ms, is_user=True)
            return
        speech.turn = self._begin_turn(speech.from_ms, is_user=True).number
        if speech.to_ms is not None:
            self._write_speech(speech)

    def release_user_turn(self, at: float) -> None:
        """Record that the user's part of the turn ended."""
        turn = self._latest
        if turn is None or not self.is_user_turn_open:
            return
        turn.released_ms = max(turn.from_ms, self._writer.to_ms(at))
        self._write_turn(turn)

    def hear_words(self) -> None:
        """Record that the speech in the turn was recognized as words."""
        if self._latest is not None:
            self._latest.has_words = True

    def add_user_text(
        self, text: str, at: float, *, language: str | None = None, is_typed: bool = False, is_new_turn: bool = False
    ) -> None:
        """Record what the user said in the turn so far. The text is added to that of the same turn."""
        turn = self._latest
        if turn is None or turn.number == 0 or is_new_turn:
            # The pipeline has no frames for turns.
            self.start_user_turn(at)
            self.release_user_turn(at)
            turn = self._latest
        if turn is None:
            return
        turn.has_words = True
        if not self._writer.has_text:
            return
        turn.user_texts.append(text.strip())
        speech = self._user_speech
        is_spoken = speech is not None and speech.turn == turn.number and speech.to_ms is not None
        to_ms = speech.to_ms if speech is not None and is_spoken else turn.released_ms
        self._writer.write(
            "said",
            turn=turn.number,
            side="user",
            text=" ".join(turn.user_texts),
            **{"from": turn.from_ms},
            to=max(turn.from_ms, self._writer.to_ms(at) if to_ms is None else to_ms),
            language=language,
            typed=is_typed or None,
        )

    def start_bot_speech(self, at: float) -> None:
        """Record that the bot began to speak."""
        at_ms = self._writer.to_ms(at)
        turn = self._latest or self._begin_turn(at_ms, is_user=False)
        if self._untold_from_ms is None or turn is not self._bot_turn:
            self._untold_from_ms = at_ms
        self._bot_speech = _Speech("bot", at_ms, turn.number)
        self._bot_turn = turn
        self._is_bot_interrupted = False
        turn.has_bot_speech = True
        self._write_speech(self._bot_speech)
        if turn.to_ms is not None:
            turn.to_ms = None
            self._write_turn(turn)

    def stop_bot_speech(self, at: float) -> None:
        """Record that the bot stopped to speak."""
        at_ms = self._writer.to_ms(at)
        if not self._close_speech(self._bot_speech, at_ms):
            return
        self._finish_utterance(at_ms, is_interrupted=self._is_bot_interrupted)
        turn = self._bot_turn
        if turn is not None and turn is self._latest and not self._running_tools:
            turn.to_ms = max(turn.from_ms, at_ms)
            self._write_turn(turn)

    def interrupt(self) -> bool:
        """Record an interruption. It counts only while the bot is speaking. Returns whether it counts."""
        turn = self._bot_turn
        if turn is None or not self.is_bot_speaking or self._is_bot_interrupted:
            return False
        self._is_bot_interrupted = True
        turn.is_interrupted = True
        self._write_turn(turn)
        return True

    def add_bot_text(self, text: str, at: float) -> None:
        """Record what the bot said. If it was interrupted, this is the part that it said before the interruption."""
        if not self._writer.has_text:
            return
        at_ms = self._writer.to_ms(at)
        from_ms = self._untold_from_ms
        was_spoken = from_ms is not None and self._bot_turn is not None
        turn = (self._bot_turn if was_spoken else self._latest) or self._begin_turn(at_ms, is_user=False)
        from_ms = at_ms if from_ms is None else from_ms
        self._finish_utterance(from_ms)
        self._untold_from_ms = None
        self._utterance = _Utterance(turn.number, text.strip(), from_ms)
        if self.is_bot_speaking and was_spoken:
            # Further text of the same speech begins where this text ended.
            self._untold_from_ms = max(at_ms, from_ms + 1)
            if not self._is_bot_interrupted:
                self._write_utterance(self._utterance, None)
            return
        stopped_ms = self._bot_speech.to_ms if was_spoken and self._bot_speech is not None else None
        self._finish_utterance(at_ms if stopped_ms is None else stopped_ms, is_interrupted=self._is_bot_interrupted)

    def start_tool(self, call: str, at: float) -> int:
        """Record that a tool is running. Returns the turn, which lasts until the tool has ended."""
        self._running_tools.add(call)
        return (self._latest or self._begin_turn(self._writer.to_ms(at), is_user=False)).number

    def end_tool(self, call: str) -> None:
        """Record that a tool has ended."""
        self._running_tools.discard(call)

    def respond(self, start: float, end: float, measured_from: MeasuredFrom, parts: list[ResponsePart]) -> None:
        """Record how long the bot took to respond in the latest turn. Only the first response of a turn counts."""
        turn = self._latest
        if turn is None or turn.has_response or (measured_from == "connect") != (turn.number == 0):
            return
        turn.has_response = True
        from_ms, to_ms = self._writer.to_ms(start), self._writer.to_ms(end)
        lines = []
        for part in parts:
            # Round the ends of the parts, not their lengths, so that they add up.
            part_ms, part_end_ms = self._writer.to_ms(part.start), self._writer.to_ms(part.end)
            if part_end_ms > part_ms:
                line = {"stage": part.stage, "service": part.service, "from": part_ms, "ms": part_end_ms - part_ms}
                lines.append({name: value for name, value in line.items() if value is not None})
        self._writer.write(
            "response",
            turn=turn.number,
            **{"from": from_ms},
            ms=to_ms - from_ms,
            measuredFrom=measured_from,
            parts=lines,
        )

    def respond_since_release(self, at: float, *, needs_words: bool) -> None:
        """Record the response of a turn that has none yet, from the end of the user's part."""
        turn = self._latest
        if turn is not None and turn.released_ms is not None and self.may_respond(needs_words=needs_words):
            self.respond(self._writer.started_at + turn.released_ms / 1000, at, "release", [])

    def may_respond(self, *, needs_words: bool) -> bool:
        """Return whether the bot's speech can be a response: not if the user's turn was only noise."""
        turn = self._latest
        return turn is not None and (turn.number == 0 or turn.has_words or not needs_words)

    def close(self, at: float) -> None:
        """End the turn and all speech, because the session has ended."""
        at_ms = self._writer.to_ms(at)
        self._close_speech(self._user_speech, at_ms)
        self._close_speech(self._bot_speech, at_ms)
        self._finish_utterance(at_ms, is_interrupted=self._is_bot_interrupted)
        if self._latest is not None and self._latest.to_ms is None:
            self._latest.to_ms = max(self._latest.from_ms, at_ms)
            self._write_turn(self._latest)

    def _begin_turn(self, from_ms: int, *, is_user: bool) -> _Turn:
        previous = self._latest
        if previous is not None and previous.to_ms is None:
            previous.to_ms = max(previous.from_ms, from_ms)
            self._write_turn(previous)
        number = 0 if previous is None else previous.number
        self._latest = _Turn(number + 1 if is_user else number, from_ms)
        self._write_turn(self._latest)
        return self._latest

    def _close_speech(self, speech: _Speech | None, at_ms: int) -> bool:
        if speech is None or speech.to_ms is not None:
            return False
        speech.to_ms = max(speech.from_ms, at_ms)
        self._write_speech(speech)
        return True

    def _finish_utterance(self, to_ms: int, *, is_interrupted: bool = False) -> None:
        if self._utterance is not None:
            to_ms = max(self._utterance.from_ms, to_ms)
            self._write_utterance(self._utterance, to_ms, is_interrupted=is_interrupted)
            self._utterance = None

    def _write_utterance(self, utterance: _Utterance, to_ms: int | None, *, is_interrupted: bool = False) -> None:
        self._writer.write(
            "said",
            turn=utterance.turn,
            side="bot",
            text=utterance.text,
            **{"from": utterance.from_ms},
            to=to_ms,
            interrupted=is_interrupted or None,
        )

    def _write_speech(self, speech: _Speech) -> None:
        self._writer.write("speech", side=speech.side, **{"from": speech.from_ms}, to=speech.to_ms, turn=speech.turn)

    def _write_turn(self, turn: _Turn) -> None:
        self._writer.write(
            "turn",
            turn=turn.number,
            **{"from": turn.from_ms},
            released=turn.released_ms,
            to=turn.to_ms,
            interrupted=turn.is_interrupted or None,
        )
