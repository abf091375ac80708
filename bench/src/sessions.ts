import { request } from 'undici';
import type { BenchmarkedService } from './benchmarked-service.ts';
import { waitUntil } from './wait-until.ts';

export type Session = { readonly id: string; readonly host: string; readonly port: number };

export async function waitForWarmInstances(service: BenchmarkedService, agent: string, count: number): Promise<void> {
  const text = `select count(*)::int as idle from instances join agents on agents.id = agent_id
    where agents.name = $1 and active_deployment_id is not null and state = 'ready' and session_id is null`;
  await waitUntil(
    `${count} ready instances of ${agent}`,
    async () => ((await service.database.query(text, [agent])).rows[0].idle >= count ? true : undefined),
    { seconds: 180, everyMs: 25 },
  );
}

/**
 * Starts a session and waits until its bot has accepted it. With the transport `webrtc`, the bot then waits for a WebRTC offer.
 */
export async function startSession(service: BenchmarkedService, agent: string, transport?: 'webrtc'): Promise<Session> {
  const answer = await request(`${service.origin}/v1/public/${agent}/start`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.publicKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ createDailyRoom: false, transport }),
  });
  if (answer.statusCode !== 200)
    throw new Error(`The session did not start (status ${answer.statusCode}): ${await answer.body.text()}`);
  const { sessionId } = (await answer.body.json()) as { sessionId: string };
  return { id: sessionId, ...(await addressOf(service, sessionId)) };
}

async function addressOf(service: BenchmarkedService, sessionId: string): Promise<{ host: string; port: number }> {
  const text = `select instances.host, instances.port from sessions join instances on session_id = sessions.id
    where sessions.id = $1 and sessions.state = 'live'`;
  return waitUntil(`session ${sessionId}`, async () => (await service.database.query(text, [sessionId])).rows[0], {
    everyMs: 5,
  });
}

export async function stopSession(service: BenchmarkedService, agent: string, sessionId: string): Promise<void> {
  const answer = await request(`${service.origin}/v1/agents/${agent}/sessions/${sessionId}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${service.privateKey}` },
  });
  if (answer.statusCode !== 200)
    throw new Error(`The session did not stop (status ${answer.statusCode}): ${await answer.body.text()}`);
  await answer.body.dump();
  const text = `select true as ended from sessions where id = $1 and state = 'ended'`;
  await waitUntil('the end of a session', async () => (await service.database.query(text, [sessionId])).rows[0]);
}
