import { defineConfig, mergeConfig } from 'vitest/config';
import everyTest from './vitest.config.ts';

/** `npm run test:browser`: tests that need Chromium. They are not part of `npm test`, which needs only Node. */
const shared = mergeConfig(everyTest, defineConfig({}));
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: ['packages/**/*.browser.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    globalSetup: ['test/build.setup.ts'],
    testTimeout: 150_000,
    // Run only two tests at a time, because each test has a browser, a service and bots.
    maxWorkers: 2,
  },
});
