"""Starts a session with the SDK, and prints the response, or the class, code and message of the error."""

import asyncio
import json
import sys

from pipecatcloud.exception import AgentStartError
from pipecatcloud.session import Session, SessionParams


async def main(agent_name: str, api_key: str, params: str) -> None:
    try:
        response = await Session(agent_name, api_key, SessionParams(**json.loads(params))).start()
        print(json.dumps(response))
    except AgentStartError as error:
        print(json.dumps({"error_code": error.error_code, "message": error.message}))


asyncio.run(main(*sys.argv[1:]))
