import type { LogLine } from '@bothost/contract';
import { expect, test } from 'vitest';
import { sessionId } from '../../../fake-service/records.ts';
import { startServiceWith, useCommands } from '../../use-commands.ts';

const id = '01930000-0000-7000-8000-000000000003';
const logLine = (log: string, level: LogLine['level'] = null, more: Partial<LogLine> = {}): LogLine => ({
  ...{ log, level, sessionId, deploymentId: id, instanceId: id },
  timestamp: '2026-11-20T16:00:05.123456789Z',
  ...more,
});
const readAt = '2026-11-20T16:00:05.200000000Z';
const lines = [
  logLine('parrot: listening'),
  logLine(`2026-11-20 16:00:05.120 | INFO     | bot:run:42 | ${sessionId} - Connected\tto room`, 'INFO'),
  logLine('2026-11-20 16:00:05.121 | ERROR    | pipecat.services.tts:_send:7 - No key', 'ERROR', { readAt }),
  logLine('  File "bot.py"', 'ERROR', { readAt, continuesEntry: true }),
];
const logs = useCommands(
  'cloud agent logs parrot',
  () =>
    startServiceWith({
      getLogs: () => ({
        total: { value: 3, relation: 'eq' },
        logs: lines.toReversed(),
        nextCursor: null,
        followCursor: null,
      }),
    }),
  { NO_COLOR: '1' },
);

logs.table([
  [
    '',
    {
      wholeStdout:
        '2026-11-20T16:00:05.123Z\t00000a\t\tparrot: listening\n' +
        '2026-11-20T16:00:05.123Z\t00000a\tINFO\tConnected\tto room (bot:run:42)\n' +
        '2026-11-20T16:00:05.123Z\t00000a\tERROR\tNo key (pipecat.services.tts:_send:7)\n' +
        '2026-11-20T16:00:05.123Z\t00000a\tERROR\t  File "bot.py"\n',
    },
  ],
  // Prints one line for each log entry.
  [
    '--fold',
    {
      stdout:
        /(.*\n){2}2026-11-20T16:00:05\.123Z\t00000a\tERROR\tNo key \(pipecat\.services\.tts:_send:7\) \(\+1 line\)\n$/,
    },
  ],
  // Aligns the columns on a terminal, and marks times of reading with ~.
  [
    '',
    {
      wholeStdout:
        '2026-11-20 16:00:05.123~  00000a  parrot: listening\n' +
        '2026-11-20 16:00:05.123~  00000a  INFO     Connected\tto room (bot:run:42)\n' +
        '2026-11-20 16:00:05.123   00000a  ERROR    No key (pipecat.services.tts:_send:7)\n' +
        '2026-11-20 16:00:05.123   00000a  ERROR      File "bot.py"\n',
    },
    { terminal: true },
  ],
  // Omits the session id when only one session is shown.
  [`--session ${sessionId}`, { stdout: '2026-11-20 16:00:05.123~  parrot: listening\n' }, { terminal: true }],
]);

test('logs --json prints the original lines and full ids', async () => {
  expect(JSON.parse((await logs.run('--json')).stdout).logs).toEqual(lines);
});
