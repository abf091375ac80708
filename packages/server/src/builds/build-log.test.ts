import { expect, it } from 'vitest';
import { insertTestBuild } from '../../test/support/build-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { newId } from '../store/uuid.ts';
import { type LogLimits, openBuildLog } from './build-log.ts';
import { readLines } from './log-rows.ts';

const rows = await useTestRows();
const organizationId = await rows.organization();

const limits: LogLimits = { lines: 5, lastLines: 2, lineCharacters: 20 };
const context = (stored: (id: string) => void = () => undefined) => ({
  db: rows.db,
  now: () => new Date(),
  retryWrite: <T>(write: () => Promise<T>) => write(),
  stored,
});
const textsOf = async (id: string) =>
  (await readLines(rows.db, id, { from: 0, limit: 1_000, isFull: true })).map(({ text }) => text);
const newBuild = () => insertTestBuild(rows.db, organizationId, { content_hash: newId() });

it('a build log stores a line soon after it is written and notifies followers', async () => {
  const { id } = await newBuild();
  const notified = new Promise((resolve) => {
    void openBuildLog(context(resolve), id).then((log) => log.write('first'));
  });
  expect(await notified).toBe(id);
  expect(await textsOf(id)).toEqual(['first']);
});

it('a build log that exceeds its limit keeps its beginning and its end, and reports the omitted lines', async () => {
  const { id } = await newBuild();
  const log = await openBuildLog(context(), id, limits);
  for (let line = 0; line < 20; line++) log.write(`line ${line}`);
  await log.flush();
  expect(await textsOf(id)).toEqual([
    'line 0',
    'line 1',
    'line 2',
    'line 3',
    'line 4',
    expect.stringContaining('over its limit'),
  ]);
  await log.end();
  expect((await textsOf(id)).slice(6)).toEqual(['... 13 lines were dropped here ...', 'line 18', 'line 19']);
});

it('a build log appends the lines of a second attempt to the lines of the first attempt', async () => {
  const { id } = await newBuild();
  const first = await openBuildLog(context(), id);
  first.write('first');
  await first.flush();
  const second = await openBuildLog(context(), id);
  second.write('second');
  await second.end();
  expect(await textsOf(id)).toEqual(['first', 'second']);
});

it('a build log removes control sequences and overwritten text from lines, and shortens long lines', async () => {
  const { id } = await newBuild();
  const log = await openBuildLog(context(), id, limits);
  log.write('\u001b[31mred\u001b[0m\u0000 \u0007and\tblue\r');
  log.write('10 %\r50 %\rdone');
  log.write('two\nlines');
  log.write('x'.repeat(30));
  await log.end();
  expect(await textsOf(id)).toEqual([
    'red and  blue',
    'done',
    'two',
    'lines',
    `${'x'.repeat(20)} ... 10 characters dropped`,
  ]);
});

it('if a line arrives during a write, a build log stores the line with the next write', async () => {
  const { id } = await newBuild();
  let meanwhile: () => void = () => undefined;
  const retryWrite = async <T>(write: () => Promise<T>) => {
    const written = await write();
    meanwhile();
    return written;
  };
  const log = await openBuildLog({ ...context(), retryWrite }, id);
  meanwhile = () => {
    meanwhile = () => undefined;
    log.write('second');
  };
  log.write('first');
  await log.flush();
  await log.end();
  expect(await textsOf(id)).toEqual(['first', 'second']);
});

it('a build log stores the lines of a failed write exactly once, as part of the next write', async () => {
  const { id } = await newBuild();
  let away = true;
  const retryWrite = <T>(write: () => Promise<T>) => (away ? Promise.reject(new Error('away')) : write());
  const log = await openBuildLog({ ...context(), retryWrite }, id);
  log.write('kept');
  await expect(log.flush()).rejects.toThrow('away');
  away = false;
  log.write('next');
  await log.end();
  expect(await textsOf(id)).toEqual(['kept', 'next']);
});
