import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createTeardown } from './teardown.ts';

const logger = pino({ level: 'silent' });

function started() {
  const done: string[] = [];
  const teardown = createTeardown(logger);
  const step = (name: string) => async () => void done.push(`${name}${teardown.closing.aborted ? '' : ' too early'}`);
  teardown.add(step('database'));
  teardown.addForFailedStart(step('region'));
  teardown.add(step('address'));
  return { teardown, done };
}

it('a teardown aborts the signal, then runs the steps in reverse order', async () => {
  const { teardown, done } = started();
  await teardown.end();
  expect(done).toEqual(['address', 'database']);
});

it('a teardown after a failed start also runs the steps that a normal shutdown skips', async () => {
  const { teardown, done } = started();
  await teardown.endFailedStart();
  expect(done).toEqual(['address', 'region', 'database']);
});

it('a teardown continues after a failed step and rejects with the first failure', async () => {
  const { teardown, done } = started();
  teardown.add(() => Promise.reject(new Error('the second')));
  teardown.add(() => Promise.reject(new Error('the first')));
  await expect(teardown.end()).rejects.toThrow('the first');
  expect(done).toEqual(['address', 'database']);
});

it('a teardown after a failed start does not reject if a step fails, so that the error of the start is reported', async () => {
  const { teardown, done } = started();
  teardown.add(() => Promise.reject(new Error('in the way')));
  await teardown.endFailedStart();
  expect(done).toEqual(['address', 'region', 'database']);
});
