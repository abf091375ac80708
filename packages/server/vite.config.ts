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
    minify: false,
    reportCompressedSize: false,
    // Write the licenses of the bundled packages.
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      // `pg` loads `pg-native` only if a program asks for it.
      external: [...builtinModules, /^node:/, 'pg-native'],
      // All files are in one directory, because the spawner finds its program beside its own module.
      output: { entryFileNames: 'main.js', chunkFileNames: '[name]-[hash].js' },
    },
  },
  ssr: { noExternal: true },
});
