"""The meetings of rooms that the bot of the running session joins, as Daily numbers them."""

from typing import TYPE_CHECKING, Any

from .setup_file import add_setup_file

if TYPE_CHECKING:
    from .session import Session


class _Current:
    def __init__(self) -> None:
        self.session: Session | None = None


_current = _Current()


def report_meetings(session: "Session") -> None:
    """Add each meeting that the bot joins to the report of its session."""
    _current.session = session
    add_setup_file()

    def end() -> None:
        _current.session = None

    session.at_end.append(end)


def observe_meetings(worker: Any) -> None:
    """Watch the transports of a pipeline, if the running session is in a room."""
    session = _current.session
    if session is None:
        return
    from .conversation.services import walk_processors

    transports = {
        id(transport): transport
        for processor in walk_processors(worker.pipeline)
        if (transport := getattr(processor, "_transport", None)) is not None
        and type(transport).__module__.startswith("pipecat.transports.daily")
    }

    async def on_joined(_: Any, data: Any) -> None:
        session.note_meeting(data["meetingSession"]["id"], data["participants"]["local"]["id"])

    for transport in transports.values():
        transport.add_event_handler("on_joined", on_joined)
