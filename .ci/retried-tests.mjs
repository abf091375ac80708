import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

/** A vitest reporter: writes the names of the tests that passed only when they were retried, one a line, to `RETRIED_TESTS`. */
export default class RetriedTests {
  onTestRunEnd(modules) {
    const names = [];
    for (const module of modules) {
      for (const test of module.children.allTests('passed')) {
        if (test.diagnostic()?.flaky) names.push(`${relative(process.cwd(), module.moduleId)} > ${test.fullName}`);
      }
    }
    writeFileSync(process.env.RETRIED_TESTS, names.map((name) => `${name}\n`).join(''));
  }
}
