import { builtinModules } from 'node:module';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const contract = (file: string) => fileURLToPath(new URL(`../contract/src/${file}`, import.meta.url));

/** Matches the modules that nearly every command loads. They form one chunk. */
const core =
  /src\/(config|failure|find-command|version|suggest|command-line\/(command|options|parse-line|usage)|output\/(colors|failure-description|printable|render)|connection\/(profile|service-version)|command-line-package)\.ts$|picocolors/;
/**
 * Matches the modules that every `botcli init` loads. They form one chunk. The modules of the wizard and the modules that change
 * or check a project are in other chunks.
 */
const scaffold = /src\/scaffold\/(?!wizard|changing|checking|init-interactively|follow-up)/;

/**
 * Bundles everything, with one chunk per command, so that a command reads only the code that it needs. `botcli --version` alone
 * needs no chunk, because the launcher `bin/botcli.js` prints the version.
 */
export default defineConfig({
  resolve: {
    alias: [
      // These entries let a command load one module of the contract package instead of the whole package, which few commands
      // need.
      { find: '@bothost/contract/alert-kinds', replacement: contract('alert-kinds.ts') },
      { find: '@bothost/contract/command-line-package', replacement: contract('command-line-package.ts') },
      { find: '@bothost/contract/conversation-level', replacement: contract('conversation/level.ts') },
      { find: '@bothost/contract/conversation-line-key', replacement: contract('conversation/line-key.ts') },
      { find: '@bothost/contract/conversation-recording-end', replacement: contract('conversation/recording-end.ts') },
      {
        find: '@bothost/contract/conversation-storage-problem',
        replacement: contract('conversation/storage-problem.ts'),
      },
      { find: '@bothost/contract/env-file', replacement: contract('env-file/env-file.ts') },
      { find: '@bothost/contract/format-bytes', replacement: contract('format-bytes.ts') },
      { find: '@bothost/contract/parsed-secrets-input', replacement: contract('env-file/parsed-secrets-input.ts') },
      { find: '@bothost/contract/limits', replacement: contract('limits.ts') },
      { find: '@bothost/contract/log-text', replacement: contract('log-text.ts') },
      { find: '@bothost/contract/phone-carriers', replacement: contract('phone-carriers.ts') },
      { find: '@bothost/contract/period', replacement: contract('period.ts') },
      { find: '@bothost/contract/roles', replacement: contract('roles.ts') },
      { find: '@bothost/contract/session-event-cause', replacement: contract('session-event-cause.ts') },
      { find: '@bothost/contract/shell-word', replacement: contract('shell-word.ts') },
      { find: '@bothost/contract/statuses', replacement: contract('statuses.ts') },
      { find: '@bothost/contract/suggest', replacement: contract('suggest.ts') },
      { find: '@bothost/contract/webhook-events', replacement: contract('webhook-events.ts') },
      {
        find: '@bothost/packing',
        replacement: fileURLToPath(new URL('../packing/src/index.ts', import.meta.url)),
      },
      { find: '@bothost/contract', replacement: contract('index.ts') },
    ],
  },
  // `npm ci` builds, and its output must stay short.
  logLevel: 'warn',
  build: {
    ssr: 'src/main.ts',
    target: 'node20',
    minify: false,
    reportCompressedSize: false,
    // Write the licenses of the bundled packages.
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      external: [...builtinModules, /^node:/],
      output: {
        entryFileNames: 'main.js',
        chunkFileNames: 'chunks/[name]-[hash].js',
        // Join small modules that are used together into one chunk, because opening a file takes longer than reading it.
        codeSplitting: {
          groups: [
            { name: 'scaffold', test: scaffold },
            { name: 'core', test: core, priority: 1 },
          ],
        },
      },
    },
  },
  ssr: { noExternal: true },
});
