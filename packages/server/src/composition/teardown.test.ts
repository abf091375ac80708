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

it('tears down in reverse order after aborting the signal', async () => {
  const { teardown, done } = started();
  await teardown.end();
  expect(done).toEqual(['address', 'database']);
});

it('after a failed start, also tears down parts that a running service leaves', async () => {
  const { teardown, done } = started();
  await teardown.endFailedStart();
  expect(done).toEqual(['address', 'region', 'database']);
});

it('continues after a failed step and rejects with the first failure', async () => {
  const { teardown, done } = started();
  teardown.add(() => Promise.reject(new Error('the second')));
  teardown.add(() => Promise.reject(new Error('the first')));
  await expect(teardown.end()).rejects.toThrow('the first');
  expect(done).toEqual(['address', 'database']);
});

it('keeps the error of the start if the teardown fails too', async () => {
  const { teardown, done } = started();
  teardown.add(() => Promise.reject(new Error('in the way')));
  await teardown.endFailedStart();
  expect(done).toEqual(['address', 'region', 'database']);
});
