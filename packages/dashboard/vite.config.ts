import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** Static files for `/`, `/talk/:agent` and `/assets/*`; nothing in them refers to another host. */
export default defineConfig({
  // Found from anywhere, since the browser test builds the page too.
  root: import.meta.dirname,
  plugins: [react(), withoutDaily()],
  build: { target: 'es2022', assetsInlineLimit: 0, reportCompressedSize: false, chunkSizeWarningLimit: 700 },
});

/** The transport's default media manager loads from another host. It is never used here, so it is left out. */
function withoutDaily(): Plugin {
  const leftOut = '\0left-out';
  return {
    name: 'without-daily',
    enforce: 'pre',
    resolveId: (id) => (id === '@daily-co/daily-js' ? leftOut : null),
    load: (id) => (id === leftOut ? 'export default undefined;' : null),
  };
}
