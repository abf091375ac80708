import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConversationLine, createApiClient } from '@bothost/contract';
import { expect, it, onTestFinished } from 'vitest';
import { writeBot } from '../support/bots.ts';
import { evaluateJavaScriptInBot, startAgentSession, waitForSessionEnd } from '../support/client.ts';
import { findFreePort } from '../support/free-port.ts';
import { createServiceProcess } from '../support/service-process.ts';

const agentName = 'talker';
const megabyte = 1_048_576;
const line: ConversationLine = {
  kind: 'said',
  at: 1,
  turn: 1,
  side: 'user',
  text: 'I would like to know the weather in Lisbon tomorrow, please. '.repeat(4),
  from: 0,
  to: 1,
};
const block = `${JSON.stringify(line)}\n`.repeat(3_000);

async function readMemoryBytes(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s*(\\d+) kB`).exec(status)?.[1]) * 1024;
}

it('the memory of the service grows by at most 20 MB while a bot writes 1 GB to its conversation file', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-flood-'));
  await chmod(directory, 0o711);
  const bot = await writeBot(agentName, { conversationLevel: 'transcript' });
  const service = createServiceProcess({ directory, agents: [bot.path], port: await findFreePort() });
  const { pid = 0 } = service.start();
  onTestFinished(async () => {
    service.current().signal('SIGTERM');
    await service.current().exited;
    await Promise.all([bot.remove(), rm(directory, { recursive: true })]);
  });
  await service.ready();
  const { url, publicKey, privateKey } = service;
  const client = createApiClient({ origin: url, key: privateKey });
  const bothost = { url, publicKey, client, publicClient: createApiClient({ origin: url, key: publicKey }) };

  /** Runs a session whose bot writes this many bytes, and returns why lines of its conversation were dropped. */
  async function run(bytes: number): Promise<readonly string[]> {
    const sessionId = await startAgentSession(bothost, agentName);
    const code = `for (let written = 0; written < ${bytes}; written += ${block.length})
      require('fs').appendFileSync(process.env.BOTHOST_CONVERSATION_FILE, ${JSON.stringify(block)});
      require('fs').statSync(process.env.BOTHOST_CONVERSATION_FILE).size`;
    expect(await evaluateJavaScriptInBot(bothost, agentName, sessionId, code)).toBeGreaterThanOrEqual(bytes);
    await evaluateJavaScriptInBot(bothost, agentName, sessionId, 'state.end(200, "{}")');
    await waitForSessionEnd(bothost, agentName, sessionId);
    const read = (cursor?: string) => {
      const query = { limit: 1_000, ...(cursor === undefined ? {} : { cursor }) };
      return client.getSessionConversation({ params: { agentName, sessionId }, query });
    };
    await expect.poll(async () => (await read()).state, { timeout: 60_000, interval: 200 }).toBe('incomplete');
    const reasons: string[] = [];
    for (let page = await read(); ; page = await read(page.nextCursor)) {
      reasons.push(...page.lines.flatMap((line) => (line.kind === 'dropped' ? [line.reason] : [])));
      if (page.nextCursor === null) return reasons;
    }
  }

  expect(await run(megabyte)).toEqual([]);
  await writeFile(`/proc/${pid}/clear_refs`, '5');
  const before = await readMemoryBytes(pid, 'VmRSS');
  expect(await run(1_000 * megabyte)).toEqual(['file-too-long']);
  const growth = (await readMemoryBytes(pid, 'VmHWM')) - before;
  process.stdout.write(`${before / megabyte} MiB, and ${growth / megabyte} MiB more\n`);
  expect(growth).toBeLessThan(20 * megabyte);
}, 120_000);
