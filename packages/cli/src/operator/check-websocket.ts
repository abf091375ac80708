import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type InstallationCheck, serviceVersionHeader, webSocketProbePath } from '@bothost/contract';
import { createFailedCheck, createOkCheck } from './installation-finding.ts';
import { createRawRequest, type ServiceConnection } from './raw-request.ts';

const subject = 'WebSocket';
const nextStep = 'Make the proxy pass on WebSocket upgrades, as in docs/reverse-proxy.md.';
/** The first byte of a close frame (RFC 6455, section 5.2). */
const closeFrame = 0x88;

/** Opens a WebSocket, which the service closes at once. */
export async function checkWebSocket(connection: ServiceConnection): Promise<InstallationCheck> {
  const request = createRawRequest(connection, 'GET', webSocketProbePath, {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
  });
  try {
    const opened = new Promise<IncomingMessage | Upgrade>((resolve, reject) => {
      request.once('response', resolve);
      request.once('upgrade', (_, socket, head) => resolve({ socket, head }));
      request.on('error', reject);
    });
    request.end();
    const result = await opened;
    if ('head' in result) return await describeUpgrade(result, connection.timeoutMs);
    return createFailedCheck(
      subject,
      serviceVersionHeader in result.headers
        ? 'The proxy does not pass on the Upgrade header: the service got a plain request.'
        : `The proxy responds to a WebSocket with ${result.statusCode}.`,
      nextStep,
    );
  } catch (error) {
    return createFailedCheck(subject, `A WebSocket cannot be opened (${describeError(error)}).`, nextStep);
  } finally {
    request.destroy();
  }
}

type Upgrade = { readonly socket: Duplex; readonly head: Buffer };

async function describeUpgrade({ socket, head }: Upgrade, timeoutMs: number): Promise<InstallationCheck> {
  const arrives = () => once(socket, 'data', { signal: AbortSignal.timeout(timeoutMs) });
  const [first] = head.length > 0 ? [head] : ((await arrives()) as [Buffer]);
  return first[0] === closeFrame
    ? createOkCheck(subject, 'WebSockets reach the service.')
    : createFailedCheck(subject, 'A WebSocket is opened, but not by the service.', nextStep);
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  return 'code' in error ? String(error.code) : error.name;
}
