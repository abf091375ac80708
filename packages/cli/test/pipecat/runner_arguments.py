"""Creates the arguments that Pipecat's development runner passes to a bot for each transport, without a client."""

import json

from pipecat.runner.types import (
    DailyDialinRequest,
    DailyRunnerArguments,
    LiveKitRunnerArguments,
    RunnerArguments,
    SmallWebRTCRunnerArguments,
    WebSocketRunnerArguments,
)
from pipecat.transports.smallwebrtc.connection import SmallWebRTCConnection
from starlette.websockets import WebSocket

# The first WebSocket messages that each telephone carrier and the command `pipecat eval` send to a bot.
FIRST_SOCKET_MESSAGES = {
    "twilio": [
        {"event": "connected", "protocol": "Call", "version": "1.0.0"},
        {
            "event": "start",
            "streamSid": "MZ1",
            "start": {"streamSid": "MZ1", "callSid": "CA1", "customParameters": {"from_number": "+15550001"}},
        },
    ],
    "telnyx": [
        {"event": "connected", "version": "1.0.0"},
        {
            "event": "start",
            "stream_id": "ST1",
            "start": {
                "call_control_id": "CC1",
                "from": "+15550001",
                "to": "+15550002",
                "media_format": {"encoding": "PCMU"},
            },
        },
    ],
    "plivo": [{"event": "start", "start": {"streamId": "ST1", "callId": "CA1"}}, {}],
    "exotel": [
        {"event": "connected"},
        {
            "event": "start",
            "start": {"stream_sid": "ST1", "call_sid": "CA1", "account_sid": "AC1", "from": "+15550001", "to": "+1"},
        },
    ],
    "eval": [{"label": "rtvi-ai", "type": "client-message", "id": "1", "data": {"t": "eval-connect", "d": {}}}],
}


async def create_fake_socket(messages):
    """Return a WebSocket on which a client has sent these messages."""
    left = [{"type": "websocket.connect"}]
    left += [{"type": "websocket.receive", "text": json.dumps(message)} for message in messages]

    async def receive():
        return left.pop(0) if left else {"type": "websocket.disconnect", "code": 1000}

    async def send(_message):
        pass

    opened = WebSocket({"type": "websocket", "path": "/ws", "headers": []}, receive, send)
    await opened.accept()
    return opened


async def create_runner_arguments(entry_point, body):
    """Return the runner arguments for an entry point: `dial-in`, `plain` (no transport), or a key of `transport_params`."""
    if entry_point == "daily":
        return DailyRunnerArguments(room_url="https://example.daily.co/room", token="token", body=body)
    if entry_point == "dial-in":
        request = {"dialin_settings": {"call_id": "1", "call_domain": "2"}, "daily_api_key": "3", "daily_api_url": "4"}
        request = DailyDialinRequest.model_validate(request)
        return DailyRunnerArguments(room_url="https://example.daily.co/room", token="token", body=request)
    if entry_point == "livekit":
        return LiveKitRunnerArguments(room_name="room", url="wss://example.com", token="token", body=body)
    if entry_point == "webrtc":
        return SmallWebRTCRunnerArguments(webrtc_connection=SmallWebRTCConnection(), body=body)
    if entry_point == "websocket":
        return WebSocketRunnerArguments(websocket=await create_fake_socket([]), transport_type="websocket", body=body)
    if entry_point == "plain":
        return RunnerArguments(body=body)
    return WebSocketRunnerArguments(websocket=await create_fake_socket(FIRST_SOCKET_MESSAGES[entry_point]), body=body)
