import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Runtime } from '@bothost/runtime';
import { runtimes } from '@bothost/runtime/registry';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createSeededRandom } from '../../../runtime/test/random.ts';
import { createTestRuntimeOptions } from '../../../runtime/test/test-options.ts';
import { createTestDatabaseRows, type TestDatabaseRows, testNow } from '../../test/support/test-rows.ts';
import { newId } from '../store/uuid.ts';
import { createSecretMask } from './mask.ts';
import { comparePositions, type LogPosition } from './position.ts';
import { type LogPage, type LogPageRequest, readLogPage } from './read-page.ts';

const random = createSeededRandom(7);
const everything = {
  maxLines: 1_000_000,
  responseBytes: 2 ** 40,
  scanBytes: 2 ** 40,
  maxMs: 60_000,
  maxCount: 0,
  countBytes: 0,
};
const noFilter = { text: undefined, level: undefined };

let rows: TestDatabaseRows;
let runtime: Runtime;
let directory: string;
let request: Omit<LogPageRequest, 'order'>;
const written: (LogPosition & { readonly text: string })[] = [];
const texts = (page: LogPage) => page.lines.map(({ log }) => log);
const read = (more: Partial<LogPageRequest>) =>
  readLogPage(
    { db: rows.db, logsDirectory: directory, outputs: runtime.outputs, maskOf: async () => createSecretMask([]) },
    { order: 'asc', ...request, ...more },
  );

beforeAll(async () => {
  rows = await createTestDatabaseRows();
  directory = await mkdtemp(join(tmpdir(), 'bothost-page-'));
  // Bots run under other accounts, which need permission to enter the directory.
  await chmod(directory, 0o711);
  runtime = await runtimes.process.open(createTestRuntimeOptions(join(directory, 'data')));
  const agentId = await rows.agent(await rows.organization());
  const hostId = await rows.host();
  const deploymentId = await rows.deployment(agentId);
  for (let number = 0; number < 250; number++) {
    const instanceId = newId();
    const first = testNow.getTime() * 1000 + random.below(100_000_000);
    let [at, text, marks] = [first, '', ''];
    for (let line = 0; line <= random.below(20); line++) {
      at += 1 + random.below(3_000_000);
      const content = `instance ${number} line ${line} ${line % 3 === 0 ? 'Fizz' : 'plain'}`;
      text += `${content}\n`;
      marks += `\n${text.length} ${at} a`;
      written.push({ at, instanceId, offset: text.length, text: content });
    }
    const path = join(directory, agentId, instanceId);
    await mkdir(path, { recursive: true });
    await writeFile(join(path, 'output'), text);
    await writeFile(join(path, 'marks'), `${marks}\n${at + 1} e`);
    const row = {
      instance_id: instanceId,
      agent_id: agentId,
      deployment_id: deploymentId,
      session_id: null,
      host_id: hostId,
      begins_at: new Date(Math.floor(first / 1000)),
      ends_at: new Date(Math.ceil((at + 1) / 1000)),
      bytes: text.length,
      dropped_bytes: 0,
      stored_at: testNow,
    };
    await rows.db.insertInto('instance_logs').values(row).execute();
  }
  written.sort(comparePositions);
  const scope = { agentIds: [agentId], hostId, deploymentId: undefined, sessionId: undefined, withoutText: false };
  request = { scope, filter: noFilter, after: null, offset: 0, from: 0, to: 2 ** 53, limits: everything };
});
afterAll(async () => {
  await runtime?.close();
  await rows?.close();
  await rm(directory, { recursive: true, force: true });
});

describe('readLogPage of an agent with hundreds of instances', () => {
  it.each(['asc', 'desc'] as const)(
    'returns all lines in the order %s, whether in one page or in many pages',
    async (order) => {
      const expected = written.map(({ text }) => text);
      if (order === 'desc') expected.reverse();
      const whole = await read({ order });
      expect(texts(whole)).toEqual(expected);
      expect(whole).toMatchObject({ isComplete: true, isLast: true, counted: written.length });
      const collected: string[] = [];
      let after: LogPosition | null = null;
      for (;;) {
        const page: LogPage = await read({ order, after, limits: { ...everything, maxLines: 1 + random.below(400) } });
        collected.push(...texts(page));
        if (page.isLast) break;
        after = page.reached;
      }
      expect(collected).toEqual(expected);
    },
  );

  it.each(['asc', 'desc'] as const)('continues after a page that reached its limit, in the order %s', async (order) => {
    const expected = written.map(({ text }) => text).filter((text) => text.includes('Fizz'));
    if (order === 'desc') expected.reverse();
    const collected: string[] = [];
    let [after, pages]: [LogPosition | null, number] = [null, 0];
    for (; ; pages++) {
      const limits = { ...everything, maxLines: 50, scanBytes: 500_000 };
      const page: LogPage = await read({ order, after, filter: { text: 'fizz', level: undefined }, limits });
      collected.push(...texts(page));
      if (page.isLast) break;
      expect(page.reached).not.toBeNull();
      after = page.reached;
    }
    expect(collected).toEqual(expected);
    expect(pages).toBeGreaterThan(5);
  });

  it.each([
    ['off', true],
    ['timings', true],
    ['transcript', false],
    ['recording', false],
    [null, false],
  ] as const)('without text returns the log of a session with the level %s: %s', async (level, isReturned) => {
    const {
      agentIds: [agentId = ''],
      hostId,
    } = request.scope;
    const found = await rows.db.selectFrom('instance_logs').selectAll().limit(1).executeTakeFirstOrThrow();
    const { organization_id: organizationId } = await rows.find('agents', agentId);
    const of = { organizationId, agentId, deploymentId: found.deployment_id };
    const sessionId = await rows.session(of, { conversation_level: level });
    const logs = rows.db.updateTable('instance_logs').where('instance_id', '=', found.instance_id);
    await logs.set({ session_id: sessionId }).execute();
    onTestFinished(async () => void (await logs.set({ session_id: null }).execute()));
    const scope = { agentIds: [agentId], hostId, deploymentId: undefined, sessionId, withoutText: true };
    expect(texts(await read({ scope })).length > 0).toBe(isReturned);
    expect(texts(await read({ scope: { ...scope, withoutText: false } })).length).toBeGreaterThan(0);
  });

  it('returns the lines in a time range', async () => {
    const from = written[100]?.at ?? 0;
    const to = (written[900]?.at ?? 0) + 1;
    const expected = written.slice(100, 901).map(({ text }) => text);
    expect(texts(await read({ from, to }))).toEqual(expected);
    expect(texts(await read({ order: 'desc', from, to }))).toEqual([...expected].reverse());
  });

  it('skips lines before the offset, and counts matches up to the limit', async () => {
    const limits = { ...everything, maxLines: 10, maxCount: 500, countBytes: 2 ** 40 };
    const page = await read({ offset: 20, limits });
    expect(texts(page)).toEqual(written.slice(20, 30).map(({ text }) => text));
    expect(page).toMatchObject({ counted: 500, isComplete: false });
    const beyond = await read({ offset: written.length + 5 });
    expect(beyond).toMatchObject({ lines: [], counted: written.length, isComplete: true, isLast: true });
  });
});
