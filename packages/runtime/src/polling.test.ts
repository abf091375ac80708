import { expect, it, onTestFinished } from 'vitest';
import { startPolling } from './polling.ts';

/** Polls every millisecond until the test ends. Returns the logged errors. */
function poll(...runs: readonly (() => void | Promise<void>)[]): readonly unknown[] {
  const errors: unknown[] = [];
  const logger = { error: ({ err }: { readonly err?: unknown }) => void errors.push(err) };
  onTestFinished(
    startPolling(
      { pollMs: 1, logger },
      runs.map((run) => ({ polls: 1, run })),
    ),
  );
  return errors;
}

it('startPolling skips a check while its previous run is pending, and still runs the others', async () => {
  const counts = { slow: 0, fast: 0 };
  let finish: () => void = () => undefined;
  const pending = new Promise<void>((resolve) => {
    finish = resolve;
  });
  poll(
    () => {
      counts.slow += 1;
      return pending;
    },
    () => {
      counts.fast += 1;
    },
  );
  await expect.poll(() => counts.fast).toBeGreaterThan(3);
  expect(counts.slow).toBe(1);
  finish();
  await expect.poll(() => counts.slow).toBeGreaterThan(1);
});

it.each([
  [
    'throws',
    () => {
      throw new Error('failed');
    },
  ],
  ['rejects', async () => Promise.reject(new Error('failed'))],
])('startPolling logs a check that %s, and runs it again', async (_, run) => {
  const errors = poll(run);
  await expect.poll(() => errors.length).toBeGreaterThan(1);
  expect(errors[0]).toEqual(new Error('failed'));
});
