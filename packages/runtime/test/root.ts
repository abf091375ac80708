import type { TestContext } from 'vitest';
import { describeUnless, testUnless } from './skip-with-reason.ts';

export const isRoot = process.geteuid?.() === 0;
const reason = isRoot ? null : 'only root can run this test';

/** Like `it`, for a test that needs root. */
export function testAsRoot(
  title: string,
  test: (context: TestContext) => Promise<void> | void,
  timeoutMs?: number,
): void {
  testUnless(reason, title, test, timeoutMs);
}

/** Like `describe`, for tests that need root. */
export function describeAsRoot(title: string, tests: () => void): void {
  describeUnless(reason, title, tests);
}
