import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Tests read `src` of every package, so that a stale `dist` can never make one pass. */
export default defineConfig({
  resolve: {
    alias: {
      '@bothost/contract/suggest': fileURLToPath(new URL('packages/contract/src/suggest.ts', import.meta.url)),
      '@bothost/contract': fileURLToPath(new URL('packages/contract/src/index.ts', import.meta.url)),
    },
  },
  test: {
    include: ['{packages,examples,bench,lint}/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', '**/*.{browser,clients,kill,pipecat,registry}.test.ts'],
    globalSetup: ['packages/server/src/store/test-database.setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Nothing is timed here: on a busy machine a condition may take its time to come true.
    expect: { poll: { timeout: 30_000 } },
    maxWorkers: 2,
  },
});
