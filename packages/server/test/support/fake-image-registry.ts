import { createServer, type Socket } from 'node:net';

export type ImageRegistryRequest = { readonly line: string; readonly headers: ReadonlyMap<string, string> };

/**
 * Starts a fake registry on a raw socket, which can send invalid responses and records every received byte. `answer` receives
 * the request line and headers. It returns the response, or null if it wrote to the socket itself.
 */
export async function startFakeImageRegistry(
  answer: (request: ImageRegistryRequest, socket: Socket) => string | null,
  address = '127.0.0.1',
  port = 0,
) {
  const sockets = new Set<Socket>();
  const received: Buffer[] = [];
  const requests: ImageRegistryRequest[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    let pending = '';
    socket.on('data', (chunk: Buffer) => {
      received.push(chunk);
      pending += chunk.toString('latin1');
      for (let end = pending.indexOf('\r\n\r\n'); end >= 0; end = pending.indexOf('\r\n\r\n')) {
        const [line = '', ...lines] = pending.slice(0, end).split('\r\n');
        pending = pending.slice(end + 4);
        const headers = new Map(lines.map((one) => [one.split(':', 1)[0]?.toLowerCase() ?? '', headerValue(one)]));
        requests.push({ line, headers });
        const text = answer({ line, headers }, socket);
        if (text !== null) socket.write(text, 'latin1');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(port, address, resolve));
  const at = server.address();
  return {
    port: typeof at === 'object' && at !== null ? at.port : 0,
    requests,
    /** All received bytes, as latin1. */
    bytes: () => Buffer.concat(received).toString('latin1'),
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
export type FakeImageRegistry = Awaited<ReturnType<typeof startFakeImageRegistry>>;

function headerValue(line: string): string {
  return line.slice(line.indexOf(':') + 1).trim();
}

export function formatHttpResponse(status: number, headers: Readonly<Record<string, string>> = {}, body = ''): string {
  const lines = Object.entries({ 'content-length': String(body.length), ...headers });
  return [`HTTP/1.1 ${status} X`, ...lines.map(([name, value]) => `${name}: ${value}`), '', body].join('\r\n');
}

/** Returns the credentials in each encoding in which they could leak. */
export function listLeakableCredentialEncodings(credentials: string): string[] {
  const password = credentials.slice(credentials.indexOf(':') + 1);
  return [credentials, password].flatMap((text) => {
    const bytes = Buffer.from(text);
    const encoded = bytes.toString('base64');
    return [text, encodeURIComponent(text), encoded, encoded.replace(/=+$/, ''), bytes.toString('base64url')].concat(
      bytes.toString('hex'),
    );
  });
}
