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

it('takes down what was made, last first, when nobody waits for anything any more', async () => {
  const { teardown, done } = started();
  await teardown.end();
  expect(done).toEqual(['address', 'database']);
});

it('takes down what only a service that ran may leave, when the start failed', async () => {
  const { teardown, done } = started();
  await teardown.endFailedStart();
  expect(done).toEqual(['address', 'region', 'database']);
});

it('goes on after a step that fails, and tells the first failure at the end', async () => {
  const { teardown, done } = started();
  teardown.add(() => Promise.reject(new Error('the second')));
  teardown.add(() => Promise.reject(new Error('the first')));
  await expect(teardown.end()).rejects.toThrow('the first');
  expect(done).toEqual(['address', 'database']);
});

it('hides nothing of why a start failed behind what could not be taken down', async () => {
  const { teardown, done } = started();
  teardown.add(() => Promise.reject(new Error('in the way')));
  await teardown.endFailedStart();
  expect(done).toEqual(['address', 'region', 'database']);
});
