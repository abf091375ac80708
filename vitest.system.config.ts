import { defineConfig, mergeConfig } from 'vitest/config';
import everyTest from './vitest.config.ts';

/**
 * `npm run test:system`: the built programs as a reader of the documents uses them, full disks, killed processes, two servers on
 * one database, and the runtime in every way that it contains a bot.
 */
const shared = mergeConfig(everyTest, defineConfig({}));
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: ['{packages,test}/**/*.system.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    globalSetup: ['test/build.setup.ts', 'packages/server/test/support/test-database.setup.ts'],
    testTimeout: 150_000,
    // A test may change its own process, for example its user.
    isolate: true,
  },
});
