import { builtinModules } from 'node:module';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const contract = (file: string) => fileURLToPath(new URL(`../contract/src/${file}`, import.meta.url));

/**
 * Everything is bundled, and each command is a chunk of its own: what a command does not need is not read from disk.
 * `--version` loads the launcher and one small file.
 */
export default defineConfig({
  resolve: {
    alias: [
      // Apart, since every command suggests words and few need the rest of the contract.
      { find: '@bothost/contract/suggest', replacement: contract('suggest.ts') },
      { find: '@bothost/contract', replacement: contract('index.ts') },
    ],
  },
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
