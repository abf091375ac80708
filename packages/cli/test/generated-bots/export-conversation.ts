import type { ConversationLine } from '@bothost/contract';
import { startServiceWith } from '../commands/use-commands.ts';
import { privateKey, sessionId } from '../fake-service/records.ts';
import { runProgram } from '../run-program.ts';

const lines: ConversationLine[] = [
  { kind: 'said', at: 1_900, turn: 0, side: 'bot', text: 'Hello, I am here to help.', from: 400, to: 1_900 },
  { kind: 'said', at: 4_200, turn: 1, side: 'user', text: 'What is the capital of France?', from: 3_000, to: 4_000 },
  {
    ...{
      kind: 'tool',
      at: 4_900,
      turn: 1,
      id: 'call-1',
      name: 'find_capital',
      state: 'completed',
      from: 4_500,
      to: 4_900,
    },
    arguments: '{"country":"France"}',
  },
  { kind: 'said', at: 6_000, turn: 1, side: 'bot', text: 'The capital of France', from: 5_000, to: 6_000 },
  { kind: 'said', at: 7_000, turn: 1, side: 'bot', text: 'is Paris.', from: 6_000, to: 7_000, interrupted: true },
  { kind: 'said', at: 7_600, turn: 2, side: 'user', text: 'Thank you.', from: 7_000, to: 7_500 },
];

/** Returns the conversation file that `botcli cloud agent conversation --format pipecat-eval` prints for a call. */
export async function exportConversation(): Promise<string> {
  const service = await startServiceWith({
    getSessionConversation: () => ({
      ...{ sessionId, level: 'transcript', state: 'complete', startedAt: '2026-11-20T16:00:05.000Z' },
      ...{ numbers: null, textHidden: null, recording: 'none', lines, nextCursor: null },
    }),
  });
  try {
    const line = ['cloud', 'agent', 'conversation', 'demo', sessionId, '--format', 'pipecat-eval'];
    const variables = { BOTCLI_API_URL: service.origin, BOTCLI_TOKEN: privateKey };
    const { status, stdout, stderr } = await runProgram(line, { variables });
    if (status !== 0) throw new Error(stderr);
    return stdout;
  } finally {
    await service.close();
  }
}
