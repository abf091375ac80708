import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { deriveKeyFromRootKey, openDataDirectory } from '../../src/composition/data-directory.ts';
import { signToken } from '../../src/session-starts/socket-token.ts';
import { sendRawBytes, waitForSessionEnd } from '../support/client.ts';
import { useTestServer } from '../support/use-test-server.ts';

/**
 * Tests the token in each place where a client can send it. A refusal is a plain HTTP response, sent before an instance
 * is claimed.
 */
const service = await useTestServer({ bots: { talker: {}, other: {} } });

async function made(agentName = 'talker') {
  const answer = await service.publicClient.startSession({ params: { agentName }, body: { transport: 'websocket' } });
  const { sessionId = '', wsUrl = '', token = '' } = answer;
  return { sessionId, wsUrl, token };
}

/** Returns 101, or the status and reason of the refusal. */
async function connect(url: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(url, { headers });
  socket.on('error', () => undefined);
  const outcome = await Promise.race([
    once(socket, 'open').then(() => ({ status: 101, reason: '' })),
    once(socket, 'unexpected-response').then(async ([, answer]) => ({
      status: answer.statusCode as number,
      reason: JSON.parse(String((await answer.toArray()).join(''))).reason as string,
    })),
  ]);
  if (outcome.status === 101) socket.close();
  else socket.terminate();
  return outcome;
}

const refused = { status: 403, reason: 'token-invalid' };
const instances = async (agentName = 'talker') => {
  const agent = await service.client.getAgent({ params: { agentName } });
  return agent.activeSessionCount + agent.startingInstanceCount + agent.idleInstanceCount;
};

describe('the one-time token of a WebSocket client', () => {
  it.each([
    ['the query', (url: string, token: string) => connect(`${url}?token=${token}`)],
    ['the last part of the path', (url: string, token: string) => connect(`${url}/${token}`)],
    ['the header', (url: string, token: string) => connect(url, { authorization: `Bearer ${token}` })],
    [
      'the query, beside the name of the agent',
      (url: string, token: string) => connect(`${url.replace(/\/([^/]+)$/, '?serviceHost=$1')}&token=${token}`),
    ],
  ])('is accepted from %s', async (_, open) => {
    const { sessionId, wsUrl, token } = await made();
    expect(await open(wsUrl, token)).toEqual({ status: 101, reason: '' });
    expect((await waitForSessionEnd(service, 'talker', sessionId)).completionStatus).toBe('WS_CONNECTION_CLOSED');
    // The token is valid only once, even if it is sent in another place the second time.
    expect(await connect(`${wsUrl}?token=${token}`)).toEqual(refused);
  });

  it('is refused if it is missing, malformed, forged, expired or for another agent', async () => {
    await expect.poll(() => instances()).toBe(0);
    const { sessionId, wsUrl, token } = await made();
    const [payload = ''] = token.split('.');
    const { rootKey } = await openDataDirectory(service.dataDirectory, process.geteuid?.() === 0, undefined);
    const key = deriveKeyFromRootKey(rootKey, 'socket-token');
    const genuine = { agent: 'talker', org: service.organization, session: sessionId, exp: 4_000_000_000 };
    const other = wsUrl.replace('talker.', 'other.');
    const attempts = [
      wsUrl,
      `${wsUrl}?token=`,
      `${wsUrl}?token=${payload}`,
      `${wsUrl}?token=${payload}.${Buffer.alloc(32).toString('base64url')}`,
      `${wsUrl}?token=%00%ff`,
      `${wsUrl}?token=${signToken(key, { ...genuine, exp: 1 })}`,
      `${wsUrl}?token=${signToken(key, { ...genuine, org: 'another' })}`,
      `${wsUrl}?token=${signToken(key, { ...genuine, session: '01890000-0000-7000-8000-000000000000' })}`,
      `${other}?token=${token}`,
      `${other}?token=${signToken(key, { ...genuine, agent: 'other' })}`,
      `${wsUrl.replace('talker.', 'nobody.')}?token=${token}`,
      `${wsUrl.replace('talker.', 'a%00b.')}?token=${token}`,
      `${wsUrl.replace(service.organization, 'elsewhere')}?token=${token}`,
      `${wsUrl.replace(service.organization, '%00')}?token=${token}`,
    ];
    for (const url of attempts) expect([url, await connect(url)]).toEqual([url, refused]);
    // No instance was claimed: the agent `other` still has the idle instance that was started to validate its deployment.
    expect([await instances(), await instances('other')]).toEqual([0, 1]);
    expect((await connect(`${wsUrl}?token=${token}`)).status).toBe(101);
    await waitForSessionEnd(service, 'talker', sessionId);
  });

  it('is not used up by a request that is not a WebSocket handshake', async () => {
    const { sessionId, wsUrl, token } = await made();
    const { pathname } = new URL(wsUrl);
    const upgrade = (lines: string) =>
      sendRawBytes(
        service,
        `GET ${pathname}?token=${token} HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\n${lines}\r\n\r\n`,
      );
    const key = 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==';
    expect(await upgrade(`upgrade: h2c\r\n${key}\r\nsec-websocket-version: 13`)).toMatch(/^HTTP\/1.1 426 /);
    expect(await upgrade('upgrade: websocket\r\nsec-websocket-version: 13')).toMatch(/^HTTP\/1.1 400 /);
    expect(await upgrade('upgrade: websocket\r\nsec-websocket-key: short\r\nsec-websocket-version: 13')).toMatch(
      /^HTTP\/1.1 400 /,
    );
    expect(await upgrade(`upgrade: websocket\r\n${key}\r\nsec-websocket-version: 7`)).toMatch(/^HTTP\/1.1 400 /);
    const plain = await fetch(`${service.url}${pathname}?token=${token}`);
    expect(plain.status).toBe(426);
    expect(await plain.json()).toMatchObject({ reason: 'upgrade-required' });
    expect((await connect(`${wsUrl}?token=${token}`)).status).toBe(101);
    await waitForSessionEnd(service, 'talker', sessionId);
  });
});
