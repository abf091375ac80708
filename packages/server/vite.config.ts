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
    {
      name: 'latin1-source',
      // V8 keeps the source of a module in memory, and needs twice as much if it has one character beyond Latin-1.
      renderChunk(code, chunk) {
        const escaped = /\\[^\0-\xff]/.exec(code);
        if (escaped !== null) this.error(`${chunk.fileName}: ${escaped[0]} cannot be replaced by an escape sequence`);
        return code.replace(/[^\0-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
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
      output: { entryFileNames: 'main.js', chunkFileNames: '[name]-[hash].js', comments: false },
    },
  },
  ssr: { noExternal: true },
});
