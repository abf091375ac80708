import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createTakingDown } from './taking-down.ts';

const logger = pino({ level: 'silent' });

function started() {
  const done: string[] = [];
  const takingDown = createTakingDown(logger);
  const step = (name: string) => async () => void done.push(`${name}${takingDown.closing.aborted ? '' : ' too early'}`);
  takingDown.add(step('database'));
  takingDown.addForFailedStart(step('region'));
  takingDown.add(step('address'));
  return { takingDown, done };
}

it('takes down what was made, last first, when nobody waits for anything any more', async () => {
  const { takingDown, done } = started();
  await takingDown.end();
  expect(done).toEqual(['address', 'database']);
});

it('takes down what only a service that ran may leave, when the start failed', async () => {
  const { takingDown, done } = started();
  await takingDown.endFailedStart();
  expect(done).toEqual(['address', 'region', 'database']);
});

it('goes on after a step that fails, and tells the first failure at the end', async () => {
  const { takingDown, done } = started();
  takingDown.add(() => Promise.reject(new Error('the second')));
  takingDown.add(() => Promise.reject(new Error('the first')));
  await expect(takingDown.end()).rejects.toThrow('the first');
  expect(done).toEqual(['address', 'database']);
});

it('hides nothing of why a start failed behind what could not be taken down', async () => {
  const { takingDown, done } = started();
  takingDown.add(() => Promise.reject(new Error('in the way')));
  await takingDown.endFailedStart();
  expect(done).toEqual(['address', 'region', 'database']);
});
