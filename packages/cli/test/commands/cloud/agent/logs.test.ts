import type { LogLine } from '@bothost/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeService, startFakeService } from '../../../fake-service/fake-service.ts';
import { privateKey, publicKey, sessionId } from '../../../fake-service/records.ts';
import { type RunOptions, runProgram } from '../../../run-program.ts';

const id = '01930000-0000-7000-8000-000000000003';
const logLine = (log: string, level: LogLine['level'] = null, more: Partial<LogLine> = {}): LogLine => ({
  ...{ log, level, sessionId, deploymentId: id, instanceId: id },
  timestamp: '2026-11-20T16:00:05.123456789Z',
  ...more,
});
const readAt = '2026-11-20T16:00:05.200000000Z';

describe('botcli cloud agent logs', () => {
  let service: FakeService;
  const lines = [
    logLine('parrot: listening'),
    logLine(`2026-11-20 16:00:05.120 | INFO     | bot:run:42 | ${sessionId} - Connected\tto room`, 'INFO'),
    logLine('2026-11-20 16:00:05.121 | ERROR    | pipecat.services.tts:_send:7 - No key', 'ERROR', { readAt }),
    logLine('  File "bot.py"', 'ERROR', { readAt, continuesEntry: true }),
  ];
  beforeEach(async () => {
    service = await startFakeService(
      { privateKey, publicKey },
      {
        getLogs: () => ({
          total: { value: 3, relation: 'eq' },
          logs: lines.toReversed(),
          nextCursor: null,
          followCursor: null,
        }),
      },
    );
  });
  afterEach(() => service.close());

  const logs = async (args: readonly string[], given: RunOptions = {}) => {
    const variables = { BOTCLI_API_URL: service.origin, BOTCLI_TOKEN: privateKey, NO_COLOR: '1' };
    return (await runProgram(['cloud', 'agent', 'logs', 'parrot', ...args], { variables, ...given })).stdout;
  };

  it('prints the time, a short session id, the level and the message of each line', async () => {
    expect(await logs([])).toBe(
      '2026-11-20T16:00:05.123Z\t00000a\t\tparrot: listening\n' +
        '2026-11-20T16:00:05.123Z\t00000a\tINFO\tConnected\tto room (bot:run:42)\n' +
        '2026-11-20T16:00:05.123Z\t00000a\tERROR\tNo key (pipecat.services.tts:_send:7)\n' +
        '2026-11-20T16:00:05.123Z\t00000a\tERROR\t  File "bot.py"\n',
    );
  });

  it('prints one line for each log entry with --fold', async () => {
    expect((await logs(['--fold'])).split('\n').slice(2)).toEqual([
      '2026-11-20T16:00:05.123Z\t00000a\tERROR\tNo key (pipecat.services.tts:_send:7) (+1 line)',
      '',
    ]);
  });

  it('aligns the columns on a terminal, marks times of reading with ~, and omits the session id when only one session is shown', async () => {
    expect(await logs([], { terminal: true })).toBe(
      '2026-11-20 16:00:05.123~  00000a  parrot: listening\n' +
        '2026-11-20 16:00:05.123~  00000a  INFO     Connected\tto room (bot:run:42)\n' +
        '2026-11-20 16:00:05.123   00000a  ERROR    No key (pipecat.services.tts:_send:7)\n' +
        '2026-11-20 16:00:05.123   00000a  ERROR      File "bot.py"\n',
    );
    expect(await logs(['--session', sessionId], { terminal: true })).toContain(
      '2026-11-20 16:00:05.123~  parrot: listening\n',
    );
  });

  it('prints the original lines and full ids with --json', async () => {
    expect(JSON.parse(await logs(['--json'])).logs).toEqual(lines);
  });
});
