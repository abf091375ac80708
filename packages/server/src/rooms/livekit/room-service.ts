import { createTimeout } from '@bothost/contract';
import { z } from 'zod';
import { signAccessToken } from './access-token.ts';
import type { LiveKitServer } from './livekit-server.ts';

/** Milliseconds that the LiveKit server has to respond. */
const timeoutMs = 10_000;
/** Seconds that the token of a request is valid. They allow for clocks that differ. */
const tokenSeconds = 600;

/** An error response of Twirp, the protocol of LiveKit's API (its specification, version 7, "Error Codes"). */
const TwirpError = z.object({ code: z.string(), msg: z.string() });

/** The LiveKit server refused a request. `status` is that of HTTP, and `code` is Twirp's, such as `not_found`. */
export class RoomServiceError extends Error {
  override readonly name = 'RoomServiceError';
  readonly status: number;
  readonly code: string | null;

  constructor(status: number, error: z.infer<typeof TwirpError> | null) {
    super(`The LiveKit server responded ${status}${error === null ? '' : ` ${error.code}: ${error.msg}`}`);
    this.status = status;
    this.code = error?.code ?? null;
  }
}

/**
 * Calls a method of LiveKit's RoomService.
 *
 * @throws RoomServiceError, and errors of `fetch` if the server cannot be reached or does not respond in time
 */
export async function callRoomService(
  server: LiveKitServer,
  now: Date,
  method: 'CreateRoom' | 'DeleteRoom',
  request: Readonly<Record<string, unknown>>,
  signal?: AbortSignal,
): Promise<void> {
  const expiresAt = new Date(now.getTime() + 1000 * tokenSeconds);
  const token = await signAccessToken(server, { grant: { roomCreate: true }, expiresAt });
  const response = await fetch(`${server.url.replace(/^ws/, 'http')}/twirp/livekit.RoomService/${method}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(request),
    redirect: 'error',
    signal: AbortSignal.any([createTimeout(timeoutMs), ...(signal === undefined ? [] : [signal])]),
  });
  if (response.ok) {
    await response.body?.cancel();
    return;
  }
  const error = TwirpError.safeParse(await response.json().catch(() => null));
  throw new RoomServiceError(response.status, error.data ?? null);
}
