import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openCrashService } from './crash-service.ts';

const parrot = fileURLToPath(new URL('../../../../examples/parrot', import.meta.url));

async function open(environment: Record<string, string> = {}) {
  const service = await openCrashService({ writeAgents: () => [parrot], environment });
  onTestFinished(() => service.remove());
  return {
    service,
    /** Starts a session and waits until its bot has received the session. */
    beginSession: async () => {
      const key = service.publicKey;
      const path = '/v1/public/parrot/start';
      return (await service.request<{ sessionId: string }>('POST', path, { key, body: {} })).body.sessionId;
    },
    hello: (sessionId: string) =>
      service.request('GET', `/v1/public/parrot/sessions/${sessionId}/hello`, { key: service.publicKey }),
    record: (sessionId: string) => service.client.getSession({ params: { agentName: 'parrot', sessionId } }),
    isDatabaseRunning: () => existsSync(join(service.dataDirectory, 'postgres/data/postmaster.pid')),
  };
}

describe('the built program', () => {
  it('stops sessions and the database after SIGTERM, SIGINT or SIGHUP, and exits with status 0', async () => {
    const { service, beginSession, hello, record, isDatabaseRunning } = await open();
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      const sessionId = await beginSession();
      expect(await hello(sessionId)).toMatchObject({ status: 200, body: { sessionId } });
      expect(isDatabaseRunning()).toBe(true);
      service.current().signal(signal);
      expect(await service.current().exited).toBe(0);
      expect(isDatabaseRunning()).toBe(false);

      await service.start().ready;
      expect(await record(sessionId)).toMatchObject({ completionStatus: 'SESSION_STOPPED', endState: 'terminated' });
    }
  }, 240_000);

  it('leaves bots and database running with BOTHOST_ON_STOP=leave, and adopts them at the next start', async () => {
    const { service, beginSession, hello, record, isDatabaseRunning } = await open({ BOTHOST_ON_STOP: 'leave' });
    const sessionId = await beginSession();
    expect(await hello(sessionId)).toMatchObject({ status: 200, body: { sessionId } });
    service.current().signal('SIGTERM');
    expect(await service.current().exited).toBe(0);
    expect(isDatabaseRunning()).toBe(true);

    await service.start({ BOTHOST_ON_STOP: 'end' }).ready;
    expect(await hello(sessionId)).toMatchObject({ status: 200, body: { sessionId } });
    expect(await record(sessionId)).toMatchObject({ endedAt: null, endState: 'active' });
    await service.stopInOrder();
    expect(isDatabaseRunning()).toBe(false);
  });

  it('reports every invalid setting and exits with status 1', async () => {
    const { service } = await open({ BOTHOST_PORT: 'x', BOTHOST_ON_STOP: 'keep' });
    expect(await service.current().exited).toBe(1);
    const output = readFileSync(service.logFile, 'utf8');
    expect(output).toMatch(/^bothost: Invalid settings:\n {2}BOTHOST_PORT: .+\n {2}BOTHOST_ON_STOP: .+\n$/);
    expect(existsSync(service.dataDirectory)).toBe(false);
  });
});
