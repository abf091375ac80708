import { builtinModules } from 'node:module';
import { defineConfig } from 'vite';
import { createSourceAliases } from '../contract/source-aliases.ts';

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
    // A command loads one module of the contract package instead of the whole package, which few commands need.
    alias: createSourceAliases(['contract', 'packing']),
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
