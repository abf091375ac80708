import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { createTestDirectory } from '../../../runtime/test/test-directory.ts';
import { createBufferedLog } from './buffered-log.ts';

function openLog(path: string) {
  const log = createBufferedLog(openSync(path, 'a'));
  // The log closes its descriptor. If the test closed it, the log would later write to whatever file or socket reuses its number.
  onTestFinished(async () => {
    log.destroy();
    await once(log, 'close');
  });
  return log;
}

it('writes buffered lines when the process exits', async () => {
  const directory = await createTestDirectory();
  const path = join(directory, 'log');
  const log = openLog(path);
  await once(log, 'ready');
  pino(log).info('stopping');
  expect(readFileSync(path, 'utf8')).toBe('');
  log.flushSync();
  expect(readFileSync(path, 'utf8')).toContain('stopping');
});

it('ignores errors of a full disk, and does not wait for space when the process exits', async () => {
  // Each write to this device fails with ENOSPC (full(4)). Vitest fails the run if nothing handles the error.
  const log = openLog('/dev/full');
  pino(log).info('lost');
  await once(log, 'error');
  log.flushSync();
});
