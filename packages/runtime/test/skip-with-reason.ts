import { describe, it, type TestContext } from 'vitest';

/**
 * Like `it`. If `reason` is not null, the test is skipped, and the report shows the reason, which `it.skipIf` and `it.runIf`
 * cannot show.
 */
export function testUnless(
  reason: string | null,
  title: string,
  test: (context: TestContext) => Promise<void> | void,
  timeoutMs?: number,
): void {
  it(title, reason === null ? test : ({ skip }) => skip(reason), timeoutMs);
}

/** Like `describe`. If `reason` is not null, the report shows a single skipped test with the reason in place of the tests. */
export function describeUnless(reason: string | null, title: string, tests: () => void): void {
  if (reason === null) describe(title, tests);
  else testUnless(reason, title, () => undefined);
}
