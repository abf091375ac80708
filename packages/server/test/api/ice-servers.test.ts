import { createHmac } from 'node:crypto';
import type { IceServer } from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import { evaluateJavaScriptInBot, stopAgentSession, waitForSessionEnd } from '../support/client.ts';
import { useTestServer } from '../support/use-test-server.ts';

const turnSecret = 'shared with the relay';
const stun = { urls: ['stun:stun.example.com'] };
const fixed = { urls: ['turn:fixed.example.com'], username: 'Zoë', credential: 'c' };
const relay = { urls: ['turn:turn.example.com:3478', 'turns:turn.example.com:5349'] };
const agentName = 'default';

const service = await useTestServer({
  bots: { [agentName]: { minAgents: 1, maxAgents: 3 } },
  environment: {
    BOTHOST_ICE_SERVERS: JSON.stringify([stun, fixed, relay]),
    BOTHOST_TURN_SECRET: turnSecret,
  },
});

type Start = { readonly sessionId: string; readonly iceServers: readonly IceServer[] };
async function startWebRtc(): Promise<Start> {
  const { sessionId = '', iceConfig } = await service.publicClient.startSession({
    params: { agentName },
    query: {},
    body: { transport: 'webrtc', enableDefaultIceServers: true },
  });
  return { sessionId, iceServers: iceConfig?.iceServers ?? [] };
}
async function end(sessionId: string) {
  await stopAgentSession(service, agentName, sessionId);
  await waitForSessionEnd(service, agentName, sessionId);
}
const evaluate = <T>(sessionId: string, code: string) =>
  evaluateJavaScriptInBot<T>(service, agentName, sessionId, code);
async function fetchList(url: string): Promise<unknown> {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  return ((await response.json()) as { iceConfig: { iceServers: unknown } }).iceConfig.iceServers;
}

describe('the ICE servers of a session', () => {
  it('have TURN credentials that are valid for the longest session and ten minutes', async () => {
    const before = Math.floor(Date.now() / 1000);
    const { sessionId, iceServers } = await startWebRtc();
    const after = Math.floor(Date.now() / 1000);
    const { maxSessionDuration: longest } = await service.client.getAgent({ params: { agentName } });
    expect(iceServers).toEqual([
      stun,
      fixed,
      { ...relay, username: expect.any(String), credential: expect.any(String) },
    ]);
    const { username = '', credential } = iceServers[2] ?? {};
    const [expiry, session] = username.split(':');
    expect(session).toBe(sessionId);
    expect(Number(expiry)).toBeGreaterThanOrEqual(before + longest + 600);
    expect(Number(expiry)).toBeLessThanOrEqual(after + longest + 600);
    expect(credential).toBe(createHmac('sha1', turnSecret).update(username).digest('base64'));
    await end(sessionId);
  });

  it('reach the bot with the session, in ASCII', async () => {
    const { sessionId } = await startWebRtc();
    const header = await evaluate<string>(sessionId, "state.starts[0].headers['bothost-ice-servers']");
    expect(header).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(header)).toEqual([stun, fixed, expect.objectContaining({ urls: relay.urls })]);
    expect(header).toContain(`:${sessionId}"`);
    await end(sessionId);
  });

  it('are at the URL of the instance only with its secret, and only while its session runs', async () => {
    const first = await startWebRtc();
    const second = await startWebRtc();
    const readUrl = ({ sessionId }: Start) => evaluate<string>(sessionId, 'process.env.ICE_CONFIG_URL');
    const [url, otherUrl] = [await readUrl(first), await readUrl(second)];
    expect(await fetchList(url)).toEqual([
      stun,
      fixed,
      { ...relay, username: expect.stringMatching(`^[0-9]+:${first.sessionId}$`), credential: expect.any(String) },
    ]);
    const otherSecret = new URL(otherUrl).searchParams.get('secret') ?? '';
    const withQuery = (fields: Record<string, string>) => {
      const changed = new URL(url);
      for (const [name, value] of Object.entries(fields)) changed.searchParams.set(name, value);
      return changed.href;
    };
    const token = await evaluate<string>(first.sessionId, 'process.env.BOT_CONTROL_TOKEN');
    for (const wrong of [
      `${service.url}/v1/ice-servers`,
      withQuery({ secret: '' }),
      withQuery({ secret: otherSecret }),
      withQuery({ secret: token }),
      withQuery({ instance: 'x' }),
      withQuery({ instance: first.sessionId }),
      `${url}&secret=again`,
    ]) {
      expect(await fetchList(wrong)).toEqual([]);
    }
    await end(first.sessionId);
    expect(await fetchList(url)).toEqual([]);
    expect(await fetchList(otherUrl)).toHaveLength(3);
    await end(second.sessionId);
  });
});
