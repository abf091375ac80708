import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

/**
 * A Vitest reporter that writes the results of a suite as JSON to the file `SUITE_REPORT`: the number of passed tests, and
 * lists of failed tests and hooks, skipped tests, and tests that passed only when retried. The reason of a skipped test is
 * undefined if the test gave none. A failed hook skips its tests, so the error of the hook is listed.
 */
export default class SuiteReport {
  onTestRunEnd(modules, unhandledErrors) {
    const report = { passed: 0, failed: unhandledErrors.map(describeError), skipped: [], retried: [] };
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId);
      for (const error of module.errors()) report.failed.push(`${file}: ${describeError(error)}`);
      for (const suite of module.children.allSuites()) {
        for (const error of suite.errors()) report.failed.push(`${file} > ${suite.fullName}: ${describeError(error)}`);
      }
      for (const test of module.children.allTests()) {
        const title = `${file} > ${test.fullName}`;
        const { state, errors, note: reason } = test.result();
        const line = `${title}: ${describeError(errors?.[0])}`;
        if (state === 'failed') report.failed.push(line);
        else if (state !== 'passed') report.skipped.push({ title, reason });
        else report.passed += 1;
        if (test.diagnostic()?.flaky) report.retried.push(line);
      }
    }
    writeFileSync(process.env.SUITE_REPORT, JSON.stringify(report));
  }
}

function describeError(error) {
  return error?.message.split('\n')[0] ?? 'no error';
}
