import { defineConfig, mergeConfig } from 'vitest/config';
import everyTest from './vitest.config.ts';

/** `npm run test:pipecat`: real projects with real packages, from the registries that this machine is set up for. */
const shared = mergeConfig(everyTest, defineConfig({}));
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: ['packages/**/*.pipecat.test.ts', 'lint/**/*.pipecat.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 1,
  },
});
