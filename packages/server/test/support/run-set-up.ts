import { createTeardown, type Teardown } from '../../src/composition/teardown.ts';

/** Runs a set-up that adds to the teardown what undoes each of its steps. If it fails, undoes the steps that it has taken. */
export async function runSetUp<T>(setUp: (teardown: Teardown) => Promise<T>): Promise<T> {
  const teardown = createTeardown({ warn: () => undefined });
  try {
    return await setUp(teardown);
  } catch (error) {
    await teardown.endFailedStart();
    throw error;
  }
}
