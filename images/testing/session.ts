import { expect } from 'vitest';
import { createApiClient } from '../../packages/contract/src/index.ts';

export type BothostApiKeys = { readonly privateKey: string; readonly publicKey: string };

/** Starts a session of the parrot bot, sends the bot a request and stops the session. Returns the session's id. */
export async function runSampleBotSession(origin: string, keys: BothostApiKeys): Promise<string> {
  const client = createApiClient({ origin, key: keys.privateKey });
  const params = { agentName: 'parrot' };
  await expect.poll(async () => (await client.getAgent({ params })).ready).toBe(true);
  const started = await createApiClient({ origin, key: keys.publicKey }).startSession({ params, body: {} });
  const { sessionId = '' } = started;
  const answer = await fetch(`${origin}/v1/public/parrot/sessions/${sessionId}/hello`, {
    headers: { authorization: `Bearer ${keys.publicKey}` },
  });
  expect(await answer.json()).toMatchObject({ sessionId });
  await client.stopSession({ params: { ...params, sessionId } });
  await expect.poll(() => readSessionCompletionStatus(origin, keys, sessionId)).toBe('SESSION_STOPPED');
  return sessionId;
}

/** Returns the completion status of a session, or null while the session is running. */
export async function readSessionCompletionStatus(
  origin: string,
  { privateKey }: BothostApiKeys,
  sessionId: string,
): Promise<string | null> {
  const client = createApiClient({ origin, key: privateKey });
  return (await client.getSession({ params: { agentName: 'parrot', sessionId } })).completionStatus;
}

/** Resolves when the service accepts sessions. */
export async function waitUntilServiceReady(origin: string): Promise<void> {
  const status = () =>
    fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(5_000) }).then(
      ({ status }) => status,
      () => 0,
    );
  await expect.poll(status).toBe(200);
}
