import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { SessionResponse } from '@bothost/contract';
import { expect, vi } from 'vitest';
import type { TestServer } from './test-server.ts';

type Address = Pick<TestServer, 'url' | 'publicKey'>;
type Service = Address & Pick<TestServer, 'publicClient' | 'client'>;

export function sessionUrl(service: Address, agentName: string, sessionId: string, path = ''): string {
  return `${service.url}/v1/public/${agentName}/sessions/${sessionId}${path}`;
}

export function createBearerTokenHeaders(
  token: string,
  headers: Record<string, string> = {},
): { headers: Record<string, string> } {
  return { headers: { authorization: `Bearer ${token}`, ...headers } };
}

export async function startAgentSession(
  service: Service,
  agentName: string,
  body: Record<string, unknown> = {},
): Promise<string> {
  const { sessionId = '' } = await service.publicClient.startSession({ params: { agentName }, body: { body } });
  return sessionId;
}

/** Starts a session for a WebSocket client, which `url` admits once. */
export async function startWebSocketSession(
  service: Pick<Service, 'publicClient'>,
  agentName: string,
): Promise<{ readonly sessionId: string; readonly url: string }> {
  const request = { params: { agentName }, body: { transport: 'websocket' } } as const;
  const { sessionId = '', wsUrl, token } = await service.publicClient.startSession(request);
  return { sessionId, url: `${wsUrl}?token=${token}` };
}

/** Evaluates JavaScript in the bot of a session once the bot is ready. Rejects with the error that the JavaScript throws. */
export async function evaluateJavaScriptInBot<T = unknown>(
  service: Address,
  agentName: string,
  sessionId: string,
  code: string,
): Promise<T> {
  const url = sessionUrl(service, agentName, sessionId, '/evaluate');
  const response = await fetch(url, { method: 'POST', body: code, ...createBearerTokenHeaders(service.publicKey) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  return JSON.parse(text) as T;
}

export async function stopAgentSession(service: Service, agentName: string, sessionId: string): Promise<void> {
  await service.client.stopSession({ params: { agentName, sessionId } });
}

export async function waitForSessionEnd(
  service: Service,
  agentName: string,
  sessionId: string,
): Promise<SessionResponse> {
  const read = () => service.client.getSession({ params: { agentName, sessionId } });
  await expect.poll(async () => (await read()).endedAt, { timeout: 40_000, interval: 50 }).not.toBeNull();
  return read();
}

/** Waits until the session and its instance have ended and the log is stored, so that the conversation can be deleted. */
export async function waitForSessionLogEnd(
  service: Pick<Service, 'client'>,
  agentName: string,
  sessionId: string,
): Promise<void> {
  const read = () => service.client.getLogs({ params: { agentName }, query: { sessionId, limit: 1 } });
  await expect.poll(async () => (await read()).followCursor, { timeout: 40_000, interval: 50 }).toBeNull();
}

/**
 * Waits until the event `INSTANCE_EXITED` of a session is recorded, which may be after the end of the session. Returns the detail
 * of the event.
 */
export async function waitForInstanceExit(service: Service, agentName: string, sessionId: string) {
  const read = async () => {
    const { events } = await service.client.getSession({ params: { agentName, sessionId } });
    return events.find(({ eventCode }) => eventCode === 'INSTANCE_EXITED')?.detail;
  };
  await expect.poll(read, { timeout: 40_000, interval: 50 }).toBeDefined();
  return read();
}

/** Waits until an agent has a serving deployment. */
export async function waitUntilAgentReady({ client }: Pick<Service, 'client'>, agentName: string): Promise<void> {
  const isReady = async () => (await client.getAgent({ params: { agentName } })).ready;
  await vi.waitUntil(isReady, { timeout: 60_000, interval: 100 });
}

/** Waits until an agent has no active session, so that the next test can use the agent's whole capacity. */
export async function waitUntilAgentIdle(service: Service, agentName: string): Promise<void> {
  const read = () => service.client.getAgent({ params: { agentName } });
  await expect.poll(async () => (await read()).activeSessionCount, { timeout: 40_000, interval: 50 }).toBe(0);
}

/** Opens a TCP connection to the service, for requests that no HTTP client would send. */
export async function openTcpSocket(service: Pick<TestServer, 'url'>): Promise<Socket> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  return socket;
}

/** Sends raw bytes, and reads until the service closes the connection. The request must make the service close it. */
export async function sendRawBytes(service: Pick<TestServer, 'url'>, bytes: string): Promise<string> {
  const socket = await openTcpSocket(service);
  socket.write(bytes, 'latin1');
  let text = '';
  socket.setEncoding('latin1');
  socket.on('error', () => undefined);
  socket.on('data', (chunk: string) => {
    text += chunk;
  });
  await once(socket, 'close');
  return text;
}
