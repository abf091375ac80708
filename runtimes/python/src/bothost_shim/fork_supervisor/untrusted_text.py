"""Text from processes that run a tenant's code, checked and shortened."""

from typing import Any

_TEXT_CHARACTERS = 500
_MODULE_LIMIT = 2000
_NAME_CHARACTERS = 200


def shorten_text(text: object) -> str:
    """Return at most the first `_TEXT_CHARACTERS` characters of a text."""
    return str(text)[:_TEXT_CHARACTERS]


def describe_error(error: Exception) -> str:
    """Return the message of an error as one line."""
    return shorten_text(" ".join(str(error).split())) or type(error).__name__


def filter_module_names(names: Any) -> list[str]:
    """Return the texts that are valid names of modules."""
    if not isinstance(names, list):
        return []
    texts = [name for name in names[:_MODULE_LIMIT] if isinstance(name, str) and len(name) <= _NAME_CHARACTERS]
    return [name for name in texts if all(part.isidentifier() for part in name.split("."))]
