import { describe, expect, it } from 'vitest';
import { createFailureLog } from './failure-log.ts';

describe('createFailureLog', () => {
  it('logs a repeated failure when it begins, changes, ends and begins again', () => {
    const lines: string[] = [];
    const write = ({ err = '' }: { err?: unknown }, text: string) => void lines.push(`${text} ${err}`);
    const log = createFailureLog({ error: write, info: write }, 'pass');
    const away = new Error('engine away');
    log.succeeded();
    for (const error of [away, away, new Error('database away'), new Error('database away')]) log.failed(error);
    log.succeeded();
    log.succeeded();
    log.failed(away);
    expect(lines).toEqual([
      'pass failed Error: engine away',
      'pass failed Error: database away',
      'pass succeeded again ',
      'pass failed Error: engine away',
    ]);
  });
});
