import { ConnectionError, toApiError } from '@bothost/contract';
import type { CommandIo } from '../io/io.ts';

type DownloadOptions = {
  readonly origin: string;
  /** Path and query on the service. */
  readonly path: string;
  readonly key: string;
  /** Returns the error to report if the service ends the response before it is complete. */
  readonly onInterrupted: (cause: unknown) => Error;
};

/** Requests a file from the service. Rejects with an `ApiError` or a `ConnectionError` if the response is not a file. */
export async function requestDownload(
  io: Pick<CommandIo, 'fetch' | 'signal'>,
  { origin, path, key, onInterrupted }: DownloadOptions,
): Promise<AsyncIterable<Uint8Array>> {
  // Do not follow redirects, which would send the key to another host.
  const request = { headers: { authorization: `Bearer ${key}` }, signal: io.signal, redirect: 'error' } as const;
  const response = await io.fetch(`${origin}${path}`, request).catch((error: unknown) => {
    io.signal.throwIfAborted();
    throw new ConnectionError(`cannot reach the service at ${origin}`, { cause: error });
  });
  if (!response.ok) throw toApiError(response.status, await response.json().catch(() => null));
  return readBody(io.signal, response, onInterrupted);
}

async function* readBody(
  signal: AbortSignal,
  { body }: Response,
  onInterrupted: DownloadOptions['onInterrupted'],
): AsyncGenerator<Uint8Array> {
  try {
    if (body !== null) yield* body;
  } catch (error) {
    signal.throwIfAborted();
    throw onInterrupted(error);
  }
}
