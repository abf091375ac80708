import { defineConfig, mergeConfig } from 'vitest/config';
import everyTest from './vitest.config.ts';

/** `npm run test:browser`: tests that need Chromium, apart from `npm test`, which needs nothing but Node. */
const shared = mergeConfig(everyTest, defineConfig({}));
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: ['packages/**/*.browser.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    globalSetup: ['test/build.setup.ts'],
    testTimeout: 150_000,
    // Each has a browser, a service and its bots.
    maxWorkers: 2,
  },
});
