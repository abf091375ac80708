import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findFreePort } from '../support/free-port.ts';
import { createServiceProcess, type ServiceProcess } from '../support/service-process.ts';

const parrot = fileURLToPath(new URL('../../../../examples/parrot', import.meta.url));

describe('the built program', () => {
  let directory: string;
  let port: number;
  const started: ServiceProcess[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bothost-program-'));
    await chmod(directory, 0o711);
    port = await findFreePort();
  });
  afterEach(async () => {
    for (const service of started.splice(0).reverse()) {
      const server = service.current();
      // SIGTERM starts an orderly stop. It has no effect on a server that has already exited.
      server.signal('SIGTERM');
      await server.exited;
    }
    await rm(directory, { recursive: true, force: true });
  });

  async function run(environment: Record<string, string> = {}) {
    const service = createServiceProcess({ directory, agents: [parrot], port, environment });
    started.push(service);
    const server = service.start();
    await server.ready;
    return { service, server };
  }

  /** Starts a session and waits until its bot has received the session. */
  async function live(service: ServiceProcess): Promise<string> {
    const answer = await service.call('POST', '/v1/public/parrot/start', service.publicKey, {});
    const { sessionId } = (answer?.body ?? {}) as { sessionId: string };
    expect(await hello(service, sessionId)).toMatchObject({ status: 200, body: { sessionId } });
    return sessionId;
  }
  const hello = (service: ServiceProcess, sessionId: string) =>
    service.call('GET', `/v1/public/parrot/sessions/${sessionId}/hello`, service.publicKey);
  const record = async (service: ServiceProcess, sessionId: string) =>
    (await service.call('GET', `/v1/agents/parrot/sessions/${sessionId}`, service.privateKey))?.body;
  const databaseRuns = (service: ServiceProcess) =>
    existsSync(join(service.dataDirectory, 'postgres/data/postmaster.pid'));

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'stops sessions and the database after %s, and exits with status 0',
    async (signal) => {
      const { service, server } = await run();
      const sessionId = await live(service);
      expect(databaseRuns(service)).toBe(true);
      server.signal(signal);
      expect(await server.exited).toBe(0);
      expect(databaseRuns(service)).toBe(false);

      const next = await run();
      expect(await record(next.service, sessionId)).toMatchObject({
        completionStatus: 'SESSION_STOPPED',
        endState: 'terminated',
      });
    },
  );

  it('leaves bots and database running with BOTHOST_ON_STOP=leave, and adopts them at the next start', async () => {
    const first = await run({ BOTHOST_ON_STOP: 'leave' });
    const sessionId = await live(first.service);
    first.server.signal('SIGTERM');
    expect(await first.server.exited).toBe(0);
    expect(databaseRuns(first.service)).toBe(true);

    const { service, server } = await run();
    expect(await hello(service, sessionId)).toMatchObject({ status: 200, body: { sessionId } });
    expect(await record(service, sessionId)).toMatchObject({ endedAt: null, endState: 'active' });
    server.signal('SIGTERM');
    expect(await server.exited).toBe(0);
    expect(databaseRuns(service)).toBe(false);
  });

  it('reports every invalid setting and exits with status 1', async () => {
    const { service, server } = await run({ BOTHOST_PORT: 'x', BOTHOST_ON_STOP: 'keep' });
    expect(await server.exited).toBe(1);
    const output = await readFile(service.logFile, 'utf8');
    expect(output).toMatch(/^bothost: Invalid settings:\n {2}BOTHOST_PORT: .+\n {2}BOTHOST_ON_STOP: .+\n$/);
    expect(existsSync(service.dataDirectory)).toBe(false);
  });
});
