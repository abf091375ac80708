"""The route `POST /files`, which stores files for the running session (docs/bot-contract.md, "Uploads")."""

import mimetypes
from pathlib import PurePath
from typing import Any

from .asgi import Message, Receive, Scope, Send
from .control_token import require_matching_session_id
from .host import PythonHost
from .http_exchange import HttpError, send_json
from .log_lines import logger

_FILE_BYTES = 50 * 1024 * 1024
# Maximum bytes of the multipart form in addition to the file.
_FORM_BYTES = 65_536


async def store_upload(host: PythonHost, scope: Scope, receive: Receive, send: Send) -> None:
    """Store a client's file. Responds with the data for the RTVI message `send-file`. Raises HttpError."""
    storage, session = host.bot.file_storage, host.slot.running
    if session is None:
        raise HttpError(404, "No session is running")
    require_matching_session_id(scope, host.settings.control_token, session.id)
    if storage is None:
        raise HttpError(503, "The bot does not accept files")
    name, content_type, contents = await _read_file(scope, _limited(receive))
    try:
        url = await storage.save(name, contents)
    except Exception as error:
        logger.exception("The file storage could not save an upload")
        raise HttpError(500, "The file could not be saved") from error
    host.uploads.append(url)
    if session.ended.is_set():
        await host.delete_uploads()
        raise HttpError(404, "The session has ended")
    media_type = mimetypes.guess_type(name, strict=False)[0] or content_type or "application/octet-stream"
    source = {"type": "url", "url": url}
    await send_json(send, 200, {"name": name, "source": source, "format": media_type})


async def _read_file(scope: Scope, receive: Receive) -> tuple[str, str | None, bytes]:
    from starlette.datastructures import UploadFile
    from starlette.exceptions import HTTPException
    from starlette.requests import Request

    try:
        async with Request(scope, receive).form(max_files=1, max_fields=16) as form:
            file: Any = form.get("file")
            if not isinstance(file, UploadFile):
                raise HttpError(400, 'The form has no file in the field "file"')
            contents = await file.read()
    except HTTPException as error:
        raise HttpError(400, "The body is not a valid multipart form") from error
    if len(contents) > _FILE_BYTES:
        raise HttpError(413, f"The file is larger than {_FILE_BYTES} bytes")
    return PurePath(file.filename or "").name, file.content_type, contents


def _limited(receive: Receive) -> Receive:
    """Limit the size of the request body while it is read."""
    size = 0

    async def limited() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > _FILE_BYTES + _FORM_BYTES:
            raise HttpError(413, f"The file is larger than {_FILE_BYTES} bytes")
        return message

    return limited
