import { builtinModules } from 'node:module';
import { defineConfig } from 'vite';

/** Bundles everything into one file, because the service runs `node dist/main.js` from a copy without node_modules. */
export default defineConfig({
  // `npm ci` builds, and its output must stay short.
  logLevel: 'warn',
  build: {
    ssr: 'src/main.ts',
    target: 'node20',
    minify: false,
    reportCompressedSize: false,
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      // Optional native modules of `ws`, which uses them only if they are installed.
      external: [...builtinModules, /^node:/, 'bufferutil', 'utf-8-validate'],
      output: { entryFileNames: 'main.js', codeSplitting: false },
    },
  },
  ssr: { noExternal: true },
});
