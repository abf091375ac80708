import { builtinModules } from 'node:module';
import { defineConfig } from 'vite';

/** One file with everything inside: the service runs `node dist/main.js` from a copy that has no node_modules. */
export default defineConfig({
  build: {
    ssr: 'src/main.ts',
    target: 'node20',
    minify: false,
    reportCompressedSize: false,
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      // ws asks for these two native accelerators only if they are there.
      external: [...builtinModules, /^node:/, 'bufferutil', 'utf-8-validate'],
      output: { entryFileNames: 'main.js', codeSplitting: false },
    },
  },
  ssr: { noExternal: true },
});
