import { join } from 'node:path';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import manifest from './package.json' with { type: 'json' };
import { compressFiles, staticPages } from './static-pages/plugin.ts';

const pages = ['index.html', 'help.html', 'docs.html'];

/** Builds the static files of the application, which load nothing from other hosts. */
export default defineConfig({
  // The path is absolute, because the browser test builds from another directory.
  root: import.meta.dirname,
  plugins: [
    react(),
    tailwindcss(),
    withoutDaily(),
    staticPages({ repository: join(import.meta.dirname, '../..'), version: manifest.version }),
    compressFiles(),
  ],
  // `npm ci` builds, and its output must stay short.
  logLevel: 'warn',
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // The largest chunk belongs to the API reference, and only that page loads it.
    chunkSizeWarningLimit: 1_300,
    license: { fileName: 'licenses.md' },
    rolldownOptions: { input: pages.map((page) => join(import.meta.dirname, page)) },
  },
});

/**
 * Replaces Daily's library, which the transport's default media manager would load from another host, with an empty module. The
 * dashboard does not use that media manager.
 */
function withoutDaily(): Plugin {
  const emptyModule = '\0empty';
  return {
    name: 'without-daily',
    enforce: 'pre',
    resolveId: (id) => (id === '@daily-co/daily-js' ? emptyModule : null),
    load: (id) => (id === emptyModule ? 'export default undefined;' : null),
  };
}
