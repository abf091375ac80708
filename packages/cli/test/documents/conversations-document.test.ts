import { readFile } from 'node:fs/promises';
import { BotConversationLine, createConversationCounter } from '@bothost/contract';
import { expect, test } from 'vitest';
import { startServiceWith } from '../commands/use-commands.ts';
import { privateKey, sessionId, sessionSummary } from '../fake-service/records.ts';
import { runProgram } from '../run-program.ts';

test('docs/conversations.md shows lines that a bot may write, and what botcli prints for them', async () => {
  const text = await readFile(new URL('../../../../docs/conversations.md', import.meta.url), 'utf8');
  const block = (language: string) => new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(text)?.[1] ?? '';
  const counter = createConversationCounter();
  const lines = block('jsonl')
    .trim()
    .split('\n')
    .map((line) => {
      const parsed = BotConversationLine.parse(JSON.parse(line));
      // Parsing removes unknown fields.
      expect(parsed).toEqual(JSON.parse(line));
      return parsed;
    });
  for (const line of lines) counter.add(line);
  const service = await startServiceWith({
    getSessions: () => ({ total_count: 1, sessions: [sessionSummary], nextCursor: null }),
    getSessionConversation: () => ({
      ...{ sessionId, level: 'transcript', state: 'complete', startedAt: '2026-11-20T16:00:05.000Z' },
      ...{ numbers: counter.numbers(), textHidden: null, recording: 'none', lines, nextCursor: null },
    }),
  });
  try {
    const words = block('sh').trim().split(' ').slice(1);
    const variables = { BOTCLI_API_URL: service.origin, BOTCLI_TOKEN: privateKey, NO_COLOR: '1' };
    const { stdout } = await runProgram(words, { variables, terminal: true, columns: 100 });
    expect(stdout).toBe(block('text'));
  } finally {
    await service.close();
  }
});
