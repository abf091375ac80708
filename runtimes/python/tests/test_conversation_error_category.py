import socket

import aiohttp
import httpx
import pytest
import websockets

from bothost_shim.conversation.error_category import refine_category


class VendorError(Exception):
    """An error as the SDKs of vendors define it, with the fields of the vendor's JSON."""

    def __init__(self, kind: str | None = None, code: object = None) -> None:
        super().__init__("failed")
        self.type, self.code = kind, code


def caused_by(cause: BaseException) -> Exception:
    error = VendorError()
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("exception", "category"),
    [
        (VendorError("server_error"), "server"),
        (VendorError("overloaded_error"), "server"),
        (VendorError("invalid_request_error", "invalid_api_key"), "authentication"),
        (VendorError("requests", "rate_limit_exceeded"), "rate_limit"),
        (VendorError("insufficient_quota"), "quota"),
        (httpx.RemoteProtocolError("peer closed connection without sending complete message body"), "connectivity"),
        (caused_by(httpx.ConnectError("refused")), "connectivity"),
        (caused_by(caused_by(ConnectionResetError())), "connectivity"),
        (aiohttp.ServerDisconnectedError(), "connectivity"),
        (aiohttp.ClientPayloadError(), "connectivity"),
        (websockets.ConnectionClosedError(None, None), "connectivity"),
        (socket.gaierror(), "connectivity"),
        (TimeoutError(), "connectivity"),
        (VendorError("a type of tomorrow", 500), "unknown"),
        (ValueError("server_error"), "unknown"),
        (None, "unknown"),
    ],
)
def test_an_error_that_pipecat_does_not_know_gets_the_category_of_its_cause(
    exception: BaseException | None, category: str
) -> None:
    assert refine_category("unknown", exception) == category


def test_a_category_of_pipecat_stays() -> None:
    assert refine_category("application", TimeoutError()) == "application"


def test_causes_that_form_a_cycle_end() -> None:
    error = VendorError()
    error.__cause__ = error
    assert refine_category("unknown", error) == "unknown"
