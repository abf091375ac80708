import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, inject, it } from 'vitest';
import {
  noPrivateEngine,
  type PrivateEngine,
  startPrivateEngine,
} from '../../../runtime/test/docker/private-engine.ts';
import { describeUnless } from '../../../runtime/test/skip-with-reason.ts';
import { createClientConfig } from '../../src/store/address.ts';
import {
  startAgentSession,
  stopAgentSession,
  waitForInstanceExit,
  waitForSessionEnd,
  waitUntilAgentIdle,
} from '../support/client.ts';
import { createOperatorClient } from '../support/people.ts';
import { type DockerService, expectVersion, importVersionedBot, startDockerService } from './docker-service.ts';

const agentName = 'bot';
const liveRestore = { 'live-restore': true };
/** How long the engine is away: a minute in the long run of docs/testing.md. */
const awayMs = inject('kills') < 50 ? 3_000 : 60_000;

describeUnless(noPrivateEngine, 'a service', () => {
  let engine: PrivateEngine;
  let service: DockerService;

  beforeAll(async () => {
    engine = await startPrivateEngine({ settings: liveRestore });
    await importVersionedBot(engine, 'bot:1', 'one');
    service = await startDockerService(engine, { BOTHOST_LOCAL_IMAGES: 'true' });
    expect((await service.deploy(agentName, 'bot:1')).errors).toEqual([]);
  }, 120_000);
  afterAll(async () => {
    await service.close();
    expect(await engine.run('ps', '-aq')).toBe('');
    expect(await engine.run('network', 'ls', '-q', '--filter', 'name=bothost-')).toBe('');
    await engine.close();
  });
  // Each test has a warm instance.
  beforeEach(async () => {
    await waitUntilAgentIdle(service, agentName);
    await waitForIdleInstance();
  });

  const start = async () => {
    const sessionId = await startAgentSession(service, agentName);
    await expectVersion(service, agentName, sessionId, 'one');
    return sessionId;
  };
  /** Makes the bot end its session, and returns the status. */
  const finish = async (sessionId: string) => {
    const url = `${service.url}/v1/public/${agentName}/sessions/${sessionId}/end?status=200`;
    await fetch(url, { headers: { authorization: `Bearer ${service.publicKey}` } });
    return (await waitForSessionEnd(service, agentName, sessionId)).completionStatus;
  };
  const containerOf = async (sessionId: string) => {
    const database = new pg.Client(createClientConfig(service.database.address));
    await database.connect();
    const { rows } = await database.query('select id from instances where session_id = $1', [sessionId]);
    await database.end();
    return `bothost-${rows[0].id}`;
  };

  it('keeps and starts sessions while a killed engine with live-restore is away, and logs that once', async () => {
    const messages = ['reconcile pass failed', 'Docker engine does not respond', 'Docker engine connected again'];
    const before = messages.map(service.countLogged);
    const countWarnings = () => service.logLines.filter((line) => JSON.parse(line).level >= 40).length;
    const earlierWarnings = countWarnings();
    const early = await start();
    await waitForIdleInstance();
    await engine.stop('SIGKILL');
    const stoppedAt = Date.now();
    const operator = await createOperatorClient(service);
    const fault = expect.objectContaining({ state: 'failed', reason: 'The Docker engine does not respond.' });
    await expect.poll(async () => (await operator.checkInstallation()).checks).toContainEqual(fault);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(503);
    // The warm instance was ready before.
    const late = await start();
    // There is no other instance for this session.
    const waiting = await startAgentSession(service, agentName);
    await expectVersion(service, agentName, early, 'one');
    await expect.poll(() => Date.now() - stoppedAt, { timeout: 2 * awayMs }).toBeGreaterThan(awayMs);
    expect(await finish(late)).toBe('HTTP_COMPLETED');
    await engine.start();
    await expectVersion(service, agentName, early, 'one');
    await expectVersion(service, agentName, waiting, 'one');
    for (const sessionId of [early, waiting]) expect(await finish(sessionId)).toBe('HTTP_COMPLETED');
    await expect.poll(() => messages.map(service.countLogged)).toEqual(before.map((count) => count + 1));
    // One for each change of the engine, and one for each session whose CPU limit could not be set.
    expect(countWarnings() - earlierWarnings).toBeLessThan(10);
  }, 240_000);

  it('ends the session of a container that somebody removes', async () => {
    const sessionId = await start();
    await engine.run('rm', '-f', await containerOf(sessionId));
    expect(await waitForSessionEnd(service, agentName, sessionId)).toMatchObject({ completionStatus: 'HTTP_ERROR' });
    expect(await waitForInstanceExit(service, agentName, sessionId)).toMatchObject({ signal: 'SIGKILL' });
  });

  it('continues the session of a container that somebody pauses, renames and resumes', async () => {
    const sessionId = await start();
    const name = await containerOf(sessionId);
    await engine.run('pause', name);
    await engine.run('rename', name, `${name}-renamed`);
    await engine.run('unpause', `${name}-renamed`);
    await expectVersion(service, agentName, sessionId, 'one');
    expect(await finish(sessionId)).toBe('HTTP_COMPLETED');
  });

  it('stops the session of a paused container', async () => {
    const sessionId = await start();
    await engine.run('pause', await containerOf(sessionId));
    await stopAgentSession(service, agentName, sessionId);
    expect(await waitForSessionEnd(service, agentName, sessionId)).toMatchObject({
      completionStatus: 'SESSION_STOPPED',
    });
  });

  it('continues after the engine was suspended', async () => {
    const sessionId = await start();
    engine.signal('SIGSTOP');
    await expectVersion(service, agentName, sessionId, 'one');
    engine.signal('SIGCONT');
    expect(await finish(sessionId)).toBe('HTTP_COMPLETED');
  });

  // The last test, because the engine keeps this setting.
  it('ends sessions with an engine that stops without live-restore, and starts others when it is back', async () => {
    const restart = async () => {
      await engine.stop('SIGTERM');
      await engine.start({ 'live-restore': false });
      // The engine has ended all containers, so the next one is new.
      await expect.poll(() => engine.run('ps', '-q')).not.toBe('');
      await waitForIdleInstance();
    };
    await restart();
    const sessionId = await start();
    await restart();
    expect(await waitForSessionEnd(service, agentName, sessionId)).toMatchObject({ completionStatus: 'HTTP_ERROR' });
    expect(await finish(await start())).toBe('HTTP_COMPLETED');
  });

  async function waitForIdleInstance() {
    const idle = async () => (await service.client.getAgent({ params: { agentName } })).idleInstanceCount;
    await expect.poll(idle).toBe(1);
  }
});
