import { createHmac } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { GeneratedProject } from './generated-project.ts';
import { findFreePort, type RunningProgram, startProgram } from './start-program.ts';

type Fields = Readonly<Record<string, string>>;

/** A running webhook server (a generated project's `server.py`). Tests send it the requests of a telephone carrier. */
export type Webhook = RunningProgram & {
  readonly url: string;
  /**
   * Sends the request with which a telephone carrier announces a call. `host` is the host name of the tunnel to the webhook
   * server.
   */
  readonly ring: (fields: Fields, signRequest: string | null, host?: string) => Promise<Response>;
};

/** Starts a project's webhook server with `uv run server.py`. The server sends its session start requests to `service`. */
export async function startWebhook(project: GeneratedProject, service: AddressInfo | string | null): Promise<Webhook> {
  if (service === null || typeof service === 'string') throw new Error('The server does not listen on a TCP port.');
  const port = await findFreePort();
  const url = `http://localhost:${port}`;
  const variables = { WEBHOOK_PORT: String(port), WEBHOOK_START_URL: `http://127.0.0.1:${service.port}/start` };
  const running = await startProgram(project.spawn(['server.py'], variables), `${url}/health`);
  return {
    ...running,
    url,
    ring: (fields, signed, host) =>
      fetch(`${url}/call`, {
        method: 'POST',
        headers: {
          ...(signed === null ? {} : { 'x-twilio-signature': signed }),
          ...(host === undefined ? {} : { 'x-forwarded-host': host, 'x-forwarded-proto': 'https' }),
        },
        body: new URLSearchParams(fields),
      }),
  };
}

/**
 * Returns the signature of a request as Twilio computes it (Twilio's documentation, "Webhooks security"): the HMAC-SHA1 of the
 * URL, followed by all fields sorted by name.
 */
export function signRequest(url: string, fields: Fields, token: string): string {
  const names = Object.keys(fields).sort();
  const text = url + names.map((name) => name + fields[name]).join('');
  return createHmac('sha1', token).update(text).digest('base64');
}
