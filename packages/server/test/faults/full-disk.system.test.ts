import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { expect, onTestFinished } from 'vitest';
import { testAsRoot } from '../../../runtime/test/root.ts';
import { type BotProjectDirectory, writeBot } from '../support/bots.ts';
import {
  createBearerTokenHeaders,
  evaluateJavaScriptInBot,
  startAgentSession,
  stopAgentSession,
  waitForSessionEnd,
  waitForSessionLogEnd,
} from '../support/client.ts';
import { fillDisk, mountSmallDisk } from '../support/small-disk.ts';
import { startTestServer } from '../support/test-server.ts';
import { callParrot } from '../support/type-to-parrot.ts';

/** Only root can mount a small disk. The tests of runtime and store cover ordinary users. */
testAsRoot(
  'the service refuses starts on a full disk, keeps live sessions, and records the end of sessions once space is free',
  async ({ skip }) => {
    const disk = await mountSmallDisk(220);
    if (disk === null) return skip('this machine does not let root mount a tmpfs');
    await chmod(disk, 0o711);
    const bot: BotProjectDirectory = await writeBot('steady', { maxAgents: 50 });
    onTestFinished(() => bot.remove());
    const service = await startTestServer({
      agents: [bot.path],
      // Set the disk reserve to 0, so that the bots can fill the disk.
      environment: { DATABASE_URL: '', BOTHOST_DATA_DIR: join(disk, 'data'), BOTHOST_DISK_RESERVE_MB: '0' },
    });
    onTestFinished(() => service.close());
    const live = await startAgentSession(service, 'steady');
    await evaluateJavaScriptInBot(service, 'steady', live, 'true');

    const filler = await fillDisk(disk, 4096);
    const startOne = async () => {
      const response = await fetch(`${service.url}/v1/public/steady/start`, {
        method: 'POST',
        body: JSON.stringify({ body: { text: 'x'.repeat(900_000) } }),
        ...createBearerTokenHeaders(service.publicKey),
      });
      return { status: response.status, ...((await response.json()) as { reason?: string; sessionId?: string }) };
    };
    const refusals = new Set<string>();
    const started: string[] = [];
    await expect
      .poll(
        async () => {
          const { status, reason = '', sessionId } = await startOne();
          if (sessionId !== undefined) started.push(sessionId);
          else refusals.add(`${status} ${reason}`);
          return refusals.size;
        },
        { timeout: 20_000 },
      )
      .toBeGreaterThan(0);
    expect(
      [...refusals].filter((refusal) => !['507 storage-full', '503 database-unavailable'].includes(refusal)),
    ).toEqual([]);
    expect(await evaluateJavaScriptInBot(service, 'steady', live, '"still here"')).toBe('still here');
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    await evaluateJavaScriptInBot(service, 'steady', live, 'state.end(200, "{}")');

    rmSync(filler);
    await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status).toBe(200);
    expect((await waitForSessionEnd(service, 'steady', live)).completionStatus).toBe('HTTP_COMPLETED');
    // Every successful start created a session, which runs or has ended.
    for (const id of started) {
      const { completionStatus } = await service.client.getSession({ params: { agentName: 'steady', sessionId: id } });
      if (completionStatus === null) await stopAgentSession(service, 'steady', id);
      else expect(completionStatus).toBe('HTTP_ERROR');
    }
    const after = await startAgentSession(service, 'steady');
    expect(await evaluateJavaScriptInBot(service, 'steady', after, '"as before"')).toBe('as before');
    await stopAgentSession(service, 'steady', after);
    expect(await readFile(join(disk, 'data', 'key'), 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
  },
  90_000,
);

testAsRoot(
  'the service keeps the output of an instance while the disk for logs is full, and retries at intervals',
  async ({ skip }) => {
    const tries: number[] = [];
    const write = (line: string) => {
      const { msg, time } = JSON.parse(line);
      if (msg === 'reconcile action failed') tries.push(time);
    };
    const bot: BotProjectDirectory = await writeBot('wordy', {
      prelude: 'console.log("x".repeat(5_000_000) + "\\nthe end")',
    });
    onTestFinished(() => bot.remove());
    const service = await startTestServer({ agents: [bot.path], logger: pino({ level: 'error' }, { write }) });
    onTestFinished(() => service.close());
    const logs = join(service.dataDirectory, 'logs');
    await mkdir(logs, { recursive: true });
    if ((await mountSmallDisk(1, logs)) === null) return skip('this machine does not let root mount a tmpfs');

    const sessionId = await startAgentSession(service, 'wordy');
    await stopAgentSession(service, 'wordy', sessionId);
    expect((await waitForSessionEnd(service, 'wordy', sessionId)).completionStatus).toBe('SESSION_STOPPED');
    await expect.poll(() => tries.length).toBeGreaterThan(8);
    expect((tries[8] ?? 0) - (tries[3] ?? 0)).toBeGreaterThan(3_000);

    execFileSync('mount', ['-o', 'remount,size=32m', logs]);
    const query = { sessionId, order: 'asc', query: 'the end' } as const;
    const read = () => service.client.getLogs({ params: { agentName: 'wordy' }, query });
    await waitForSessionLogEnd(service, 'wordy', sessionId);
    expect((await read()).logs).toMatchObject([{ log: 'the end', sessionId }]);
  },
  90_000,
);

testAsRoot(
  'the conversation of a call continues on a full disk, and has all of its lines once space is free',
  async ({ skip }) => {
    const disk = await mountSmallDisk(64);
    if (disk === null) return skip('this machine does not let root mount a tmpfs');
    const service = await startTestServer({
      agents: [fileURLToPath(new URL('../../../../examples/parrot', import.meta.url))],
      environment: { BOTHOST_DATA_DIR: join(disk, 'data'), BOTHOST_DISK_RESERVE_MB: '0' },
    });
    onTestFinished(() => service.close());
    const params = { agentName: 'parrot' };
    await expect.poll(async () => (await service.client.getAgent({ params })).ready, { timeout: 40_000 }).toBe(true);
    await service.client.updateAgent({ params, body: { conversation: { level: 'transcript' } } });
    const call = await callParrot({ origin: service.url, publicKey: service.publicKey });
    const typed: string[] = [];
    const type = async () => {
      const text = `heron ${typed.length}.`;
      typed.push(text);
      call.type(text);
      // The call continues.
      await call.receive(`Rraawk! ${text}`);
    };
    const read = (query: { readonly cursor?: string; readonly wait?: number } = {}) => {
      const { sessionId } = call;
      return service.client.getSessionConversation({
        params: { ...params, sessionId },
        query: { limit: 10_000, ...query },
      });
    };
    const readTyped = async () =>
      (await read()).lines.flatMap((line) => (line.kind === 'said' && line.side === 'user' ? [line.text] : []));

    await type();
    await expect.poll(readTyped).toEqual(typed);
    const filler = await fillDisk(disk, 0);
    const storedBytes = Buffer.byteLength(JSON.stringify((await read()).lines));
    // 100 lines need more space than is free in the last blocks of the conversation's files.
    while (typed.length < 100) await type();
    const { storageProblem, nextCursor, lines } = await read();
    expect(storageProblem).toBe('disk-full');
    expect(Buffer.byteLength(JSON.stringify(lines)) - storedBytes).toBeLessThan(2 * 4_096);
    expect(await read({ cursor: nextCursor ?? '', wait: 20 })).toMatchObject({
      state: 'live',
      storageProblem: 'disk-full',
    });

    rmSync(filler);
    await type();
    await expect.poll(readTyped, { timeout: 10_000 }).toEqual(typed);
    expect(await read()).not.toHaveProperty('storageProblem');
    await call.hangUp();
    await expect.poll(async () => (await read()).state, { timeout: 20_000 }).toBe('complete');
    expect(await readTyped()).toEqual(typed);
  },
  90_000,
);
