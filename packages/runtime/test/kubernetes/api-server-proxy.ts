import { once } from 'node:events';
import { createServer } from 'node:http';
import { Agent, type AgentOptions, request } from 'node:https';
import type { AddressInfo } from 'node:net';

export type ApiServerRequest = { readonly method: string; readonly path: string; readonly query: URLSearchParams };

/** A proxy in front of the API server of a cluster, over HTTP without TLS, that records the requests. */
export type ApiServerProxy = {
  readonly origin: string;
  readonly requests: readonly ApiServerRequest[];
  /** Ends all connections. New ones are refused until `start` is called. */
  readonly stop: () => Promise<void>;
  readonly start: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** `tls` has the certificate of the cluster's authority, and optionally that of a user as whom the proxy sends all requests. */
export async function startApiServerProxy(
  apiServer: string,
  tls: Pick<AgentOptions, 'ca' | 'cert' | 'key'>,
): Promise<ApiServerProxy> {
  const requests: ApiServerRequest[] = [];
  const agent = new Agent({ ...tls, keepAlive: true });
  const server = createServer((incoming, response) => {
    const { method = '', url = '', headers } = incoming;
    const { pathname, searchParams } = new URL(url, apiServer);
    requests.push({ method, path: pathname, query: searchParams });
    const { host: _, ...forwarded } = headers;
    const outgoing = request(new URL(url, apiServer), { method, headers: forwarded, agent });
    outgoing.on('error', () => response.destroy());
    outgoing.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers).flushHeaders();
      answer.on('error', () => response.destroy()).pipe(response);
    });
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  const listen = async (port: number) => void (await once(server.listen(port, '127.0.0.1'), 'listening'));
  const stop = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    stop,
    start: () => listen(port),
    close: async () => {
      await stop();
      agent.destroy();
    },
  };
}
