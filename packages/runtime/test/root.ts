import { describe, it, type TestContext } from 'vitest';

export const isRoot = process.geteuid?.() === 0;
const reason = 'only root can run this test';

/**
 * Like `it`, for a test that needs root. For an ordinary user, the test is skipped and the report shows the reason, which
 * `it.runIf` cannot show.
 */
export function testAsRoot(
  title: string,
  test: (context: TestContext) => Promise<void> | void,
  timeoutMs?: number,
): void {
  it(title, isRoot ? test : ({ skip }) => skip(reason), timeoutMs);
}

/** Like `describe`, for tests that need root. For an ordinary user, the report shows a single skipped test in their place. */
export function describeAsRoot(title: string, tests: () => void): void {
  if (isRoot) describe(title, tests);
  else testAsRoot(title, () => undefined);
}
