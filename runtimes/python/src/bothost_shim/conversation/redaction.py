"""Removes personal data from texts before they are written (docs/conversations.md, "Redaction")."""

import json
import re
import threading
from collections.abc import Callable, Iterable
from queue import SimpleQueue

_FAILED = "[not kept: redact() failed]"
# Time for the bot's own function to redact one text.
_FUNCTION_SECONDS = 1.0

_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
# Smallest and largest number of digits of a payment card.
_CARD_DIGITS = (13, 19)
# Groups of digits, which spaces, hyphens or commas separate.
_DIGIT_GROUPS = re.compile(r"(?<![\w.:/+])\d+(?:(?: ?- ?|, ?| )\d+)*(?![\w:/])")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{1,4}){3,8}\b")
_PHONE = re.compile(
    r"(?<![\w.:/+])(?:"
    r"\+\d{1,3}(?:[ .-]?\(?\d{1,5}\)?){2,6}"  # with the code of a country
    r"|\(?0\d{1,5}\)?[ /-]?(?:\d[ -]?){5,9}\d"  # with a leading zero, as in most of Europe
    r"|(?:1[ .-]?)?\(?[2-9]\d{2}\)?[ .-]?[2-9]\d{2}[ .-]?\d{4}"  # in the form of North America
    r")(?![\w:/])"
)


class Redactor:
    """Redacts texts by rules of the agent, and then by the function `redact` of the bot, if it has one."""

    def __init__(self, rules: Iterable[str], function: Callable[[str], object] | None) -> None:
        """Prepare. A rule is the name of a built-in one, or a regular expression between slashes. Raises ValueError."""
        self._rules: list[Callable[[str], str]] = []
        self._function = None if function is None else _LimitedFunction(function)
        order = list(_BUILT_IN)
        for rule in sorted(rules, key=lambda rule: order.index(rule) if rule in order else len(order)):
            known = _BUILT_IN.get(rule)
            if known is not None:
                self._rules.append(known)
            elif len(rule) > 2 and rule[0] == rule[-1] == "/":
                try:
                    pattern = re.compile(rule[1:-1])
                except re.error as error:
                    raise ValueError(f"{rule} is not a regular expression") from error
                self._rules.append(lambda text, pattern=pattern: pattern.sub("[redacted]", text))  # type: ignore[misc]
            else:
                raise ValueError(f"{rule} is not a rule of redaction")

    @property
    def calls_bot(self) -> bool:
        """Whether code of the bot redacts, which may take a while."""
        return self._function is not None

    def redact(self, text: str) -> str:
        """Return the text without what the rules match. Never raises, and takes little more than a second."""
        for rule in self._rules:
            text = rule(text)
        return text if self._function is None else self._function(text)


def create_redactor(header: str | None, function: Callable[[str], object] | None) -> Redactor | None:
    """Create the redactor of a session. None if nothing is to be redacted.

    `header` is a JSON array of rules. Raises ValueError: then the session must not keep text.
    """
    rules = [] if header is None else json.loads(header)
    if not isinstance(rules, list) or not all(isinstance(rule, str) for rule in rules):
        raise ValueError("the rules of redaction are not a list of strings")
    return Redactor(rules, function) if rules or function is not None else None


class _LimitedFunction:
    """Calls a function of the bot in a thread, so that the call continues if the function hangs."""

    def __init__(self, function: Callable[[str], object]) -> None:
        self._function = function
        self._texts: SimpleQueue[tuple[str, SimpleQueue[str]]] = SimpleQueue()
        self._is_hanging = False
        self._thread: threading.Thread | None = None

    def __call__(self, text: str) -> str:
        if self._is_hanging:
            return _FAILED
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="bothost redact", daemon=True)
            self._thread.start()
        result: SimpleQueue[str] = SimpleQueue()
        self._texts.put((text, result))
        try:
            return result.get(timeout=_FUNCTION_SECONDS)
        except Exception:
            # Until the function returns, no further text waits for it.
            self._is_hanging = True
            return _FAILED

    def _run(self) -> None:
        while True:
            text, result = self._texts.get()
            try:
                redacted = self._function(text)
            except BaseException:
                redacted = None
            result.put(redacted if isinstance(redacted, str) else _FAILED)
            self._is_hanging = False


def _redact_cards(text: str) -> str:
    return _DIGIT_GROUPS.sub(lambda found: _redact_card(found.group()), text)


def _redact_card(text: str) -> str:
    """Replace each longest sequence of groups whose digits are the number of a payment card."""
    groups = list(re.finditer(r"\d+", text))
    parts, copied, first = [], 0, 0
    while first < len(groups):
        count = _count_card_groups(groups[first : first + _CARD_DIGITS[1]])
        if count > 0:
            parts += [text[copied : groups[first].start()], "[card]"]
            copied = groups[first + count - 1].end()
        first += max(count, 1)
    return "".join([*parts, text[copied:]])


def _count_card_groups(groups: list[re.Match[str]]) -> int:
    """Return how many groups, from the first one on, are the number of a card. 0 if none are."""
    if groups[0].group()[0] not in "23456":
        return 0
    digits, found = "", 0
    for count, group in enumerate(groups, 1):
        digits += group.group()
        if len(digits) > _CARD_DIGITS[1]:
            break
        if len(digits) >= _CARD_DIGITS[0] and _has_card_groups(groups[:count]) and _passes_luhn(digits):
            found = count
    return found


def _has_card_groups(groups: list[re.Match[str]]) -> bool:
    """Return whether digits are grouped as people write or say card numbers, not as in a list of numbers."""
    lengths = [len(group.group()) for group in groups]
    return len(lengths) == 1 or max(lengths) == 1 or min(lengths[:-1]) >= 4


def _passes_luhn(digits: str) -> bool:
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2]]
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def _redact_ibans(text: str) -> str:
    return _IBAN.sub(lambda found: _redact_iban(found.group()), text)


def _redact_iban(text: str) -> str:
    # Words in upper case may follow the number.
    for end in [len(text), *(match.start() for match in reversed(list(re.finditer(" ", text))))]:
        code = text[:end].replace(" ", "")
        if not 15 <= len(code) <= 34:
            continue
        if int("".join(str(int(character, 36)) for character in code[4:] + code[:4])) % 97 == 1:
            return f"[iban]{text[end:]}"
    return text


def _redact_phones(text: str) -> str:
    return _PHONE.sub(lambda found: "[phone]" if _has_phone_digits(found.group()) else found.group(), text)


def _has_phone_digits(text: str) -> bool:
    return sum(map(str.isdigit, text)) >= (8 if text.startswith("+") else 9)


# In the order in which they are applied: digits of an IBAN may look like a card, and those of a card like a telephone
# number.
_BUILT_IN: dict[str, Callable[[str], str]] = {
    "iban": _redact_ibans,
    "card": _redact_cards,
    "email": lambda text: _EMAIL.sub("[email]", text),
    "phone": _redact_phones,
}
