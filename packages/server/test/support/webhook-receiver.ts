import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

export type ReceivedEvent = {
  readonly path: string;
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  readonly payload: {
    readonly event_type: string;
    readonly org: string;
    readonly created_at: string;
    readonly data: Readonly<Record<string, unknown>>;
  };
};

/** A receiver of webhooks, which verifies each request with the library of Standard Webhooks. */
export type WebhookReceiver = {
  readonly origin: string;
  /** All requests with a valid signature, in order of arrival. */
  readonly received: readonly ReceivedEvent[];
  /** The errors of requests whose signature is not valid. */
  readonly rejected: readonly unknown[];
  /** The secrets of the webhooks. */
  readonly secrets: Map<string, string>;
  readonly close: () => Promise<void>;
};

/** `respond` answers a verified request; by default with 200. The key of `secrets` is the path of the webhook. */
export async function startWebhookReceiver(
  respond: (event: ReceivedEvent, response: ServerResponse) => void = (_, response) => void response.end(),
  port = 0,
): Promise<WebhookReceiver> {
  const received: ReceivedEvent[] = [];
  const rejected: unknown[] = [];
  const secrets = new Map<string, string>();
  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    try {
      const webhook = new Webhook(secrets.get(path) ?? 'whsec_');
      const payload = webhook.verify(await text(request), request.headers as Record<string, string>);
      const id = String(request.headers['webhook-id']);
      const event = { path, id, headers: request.headers, payload: payload as ReceivedEvent['payload'] };
      received.push(event);
      respond(event, response);
    } catch (error) {
      rejected.push(error);
      response.writeHead(401).end();
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    rejected,
    secrets,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
