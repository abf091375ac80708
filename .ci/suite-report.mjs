import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

/**
 * A Vitest reporter that writes the results of a suite as JSON to the file `SUITE_REPORT`: the number of passed tests, and
 * lists of failures (`file` is null for an error outside of all files) and of skipped tests (`reason` is undefined if the test gave
 * none). A failed hook skips its tests, so the error of the hook is listed.
 */
export default class SuiteReport {
  onTestRunEnd(modules, unhandledErrors) {
    const report = { passed: 0, failures: unhandledErrors.map((error) => describe(null, '', error)), skipped: [] };
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId);
      for (const error of module.errors()) report.failures.push(describe(file, file, error));
      for (const suite of module.children.allSuites()) {
        for (const error of suite.errors()) report.failures.push(describe(file, `${file} > ${suite.fullName}`, error));
      }
      for (const test of module.children.allTests()) {
        const title = `${file} > ${test.fullName}`;
        const { state, errors, note: reason } = test.result();
        if (state === 'failed') report.failures.push(describe(file, title, errors?.[0]));
        else if (state === 'passed') report.passed += 1;
        else report.skipped.push({ file, title, reason });
      }
    }
    writeFileSync(process.env.SUITE_REPORT, JSON.stringify(report));
  }
}

/** The first lines of a message have the locator or the values that a test waited for, and the line of the test has the step. */
function describe(file, title, error) {
  const message = error?.message.split('\n').slice(0, 3).join(' ') ?? 'no error';
  const at = file === null ? undefined : error?.stacks?.find(({ file: place }) => place.endsWith(file));
  return { file, title, message: at === undefined ? message : `${message} (line ${at.line})` };
}
