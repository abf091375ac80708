import { builtinModules } from 'node:module';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const contract = (file: string) => fileURLToPath(new URL(`../contract/src/${file}`, import.meta.url));

/** Nearly every command loads these modules. */
const core =
  /src\/(config|failure|find-command|version|suggest|command-line\/(command|options|parse-line|usage)|output\/(colors|described|printable|render)|service\/profile)\.ts$|picocolors/;
/** What `init` loads whatever it does; questions, changes and checks are apart. */
const scaffold = /src\/scaffold\/(?!wizard|changing|checking|init-by-asking|follow-up)/;

/**
 * Everything is bundled, and each command is a chunk of its own: what a command does not need is not read from disk.
 * `--version` loads the launcher and one small file.
 */
export default defineConfig({
  resolve: {
    alias: [
      // Separate entry points, because few commands need the rest of the contract.
      { find: '@bothost/contract/statuses', replacement: contract('statuses.ts') },
      { find: '@bothost/contract/suggest', replacement: contract('suggest.ts') },
      { find: '@bothost/contract', replacement: contract('index.ts') },
    ],
  },
  build: {
    ssr: 'src/main.ts',
    target: 'node20',
    minify: false,
    reportCompressedSize: false,
    // Of the bundled packages.
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      external: [...builtinModules, /^node:/],
      output: {
        entryFileNames: 'main.js',
        chunkFileNames: 'chunks/[name]-[hash].js',
        // Opening a file costs more than reading one: small parts that go together are one.
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
