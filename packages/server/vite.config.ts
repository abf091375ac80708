import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { defineConfig } from 'vite';

const spawnerProgram = 'spawner-program.cjs';

/** Bundles everything, because loading a thousand modules one by one takes three times as long as loading a bundle. */
export default defineConfig({
  // `npm ci` builds, and its output must stay short.
  logLevel: 'warn',
  plugins: [
    {
      name: 'spawner-program',
      // The service runs this file in a process of its own.
      generateBundle() {
        const source = readFileSync(new URL(`../runtime/src/${spawnerProgram}`, import.meta.url));
        this.emitFile({ type: 'asset', fileName: spawnerProgram, source });
      },
    },
  ],
  build: {
    ssr: 'src/main.ts',
    target: 'node20',
    // A running service still loads chunks of the build with which it started, and `botcli.tgz` is in this directory, too.
    emptyOutDir: false,
    minify: false,
    reportCompressedSize: false,
    // Write the licenses of the bundled packages.
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      // The last three are native modules that `pg` and `ws` use only if they are installed.
      external: [...builtinModules, /^node:/, 'pg-native', 'bufferutil', 'utf-8-validate'],
      // All files are in one directory, because the spawner finds its program beside its own module.
      output: { entryFileNames: 'main.js', chunkFileNames: '[name]-[hash].js' },
    },
  },
  ssr: { noExternal: true },
});
