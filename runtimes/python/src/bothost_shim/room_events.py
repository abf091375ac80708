"""What happens in the room of the running session, as the transport of its bot reports it."""

from typing import TYPE_CHECKING, Any

from .setup_file import add_setup_file

if TYPE_CHECKING:
    from .session import Session


class _Current:
    def __init__(self) -> None:
        self.session: Session | None = None


_current = _Current()


def follow_room(session: "Session") -> None:
    """Follow what happens in the room of a session until the session ends."""
    _current.session = session
    add_setup_file()

    def end() -> None:
        _current.session = None

    session.at_end.append(end)


def observe_room(worker: Any) -> None:
    """Watch the transports of a pipeline, if the running session is in a room."""
    session = _current.session
    if session is None:
        return
    from .conversation.services import walk_processors

    transports = {
        id(transport): transport
        for processor in walk_processors(worker.pipeline)
        if (transport := getattr(processor, "_transport", None)) is not None
    }
    for transport in transports.values():
        module = type(transport).__module__
        if module.startswith("pipecat.transports.daily"):
            _observe_daily(session, transport)
        elif module.startswith("pipecat.transports.livekit"):
            _observe_livekit(session, transport)


def _observe_daily(session: "Session", transport: Any) -> None:
    """Record each meeting that the bot joins, as Daily numbers them."""

    async def on_joined(_: Any, data: Any) -> None:
        session.note_meeting(data["meetingSession"]["id"], data["participants"]["local"]["id"])

    transport.add_event_handler("on_joined", on_joined)


def _observe_livekit(session: "Session", transport: Any) -> None:
    """Record when the client joins, and end the session when the room is closed, which bots usually ignore."""
    is_leaving = False

    async def on_first_participant_joined(_transport: Any, _participant: Any) -> None:
        session.reach("transportConnectedAt")

    async def on_before_disconnect(_: Any) -> None:
        nonlocal is_leaving
        is_leaving = True

    async def on_disconnected(_: Any) -> None:
        if not is_leaving:
            session.note_client_disconnected()
            session.end("client disconnected")

    for handler in (on_first_participant_joined, on_before_disconnect, on_disconnected):
        transport.add_event_handler(handler.__name__, handler)
