import { builtinModules } from 'node:module';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

/**
 * Everything is bundled, and each command is a chunk of its own: what a command does not need is not read from disk.
 * `--version` loads the launcher and one small file.
 */
export default defineConfig({
  resolve: { alias: { '@bothost/contract': fileURLToPath(new URL('../contract/src/index.ts', import.meta.url)) } },
  build: {
    ssr: 'src/main.ts',
    target: 'node20',
    minify: false,
    reportCompressedSize: false,
    rolldownOptions: {
      external: [...builtinModules, /^node:/],
      output: { entryFileNames: 'main.js', chunkFileNames: 'chunks/[name]-[hash].js' },
    },
  },
  ssr: { noExternal: true },
});
