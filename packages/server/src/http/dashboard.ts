import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Where the pages live in the address bar; each is the one page of the dashboard, which looks at the address itself. */
const pages = ['/', '/talk/:agent'];

/**
 * Nothing from another host. `blob:` is for the sound worklet of the web client, `wasm-unsafe-eval` for nothing: the pages
 * use none. Sockets go to the service itself, also under another name of it (`BOTHOST_PUBLIC_URL`).
 */
const contentSecurityPolicy = [
  "default-src 'self'",
  "script-src 'self' blob:",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self' ws: wss:",
  "worker-src 'self' blob:",
  "media-src 'self' blob:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ');

/** Serves the built dashboard: its assets for a year (their names hold their hash), its page fresh. */
export async function addDashboard(app: FastifyInstance): Promise<void> {
  const root = join(dirname(createRequire(import.meta.url).resolve('@bothost/dashboard/package.json')), 'dist');
  await app.register(fastifyStatic, { root, serve: false });
  for (const page of pages) app.get(page, (_, reply) => sendPage(reply));
  app.get('/assets/*', (request, reply) => {
    const { '*': name } = request.params as { '*': string };
    return reply
      .header('x-content-type-options', 'nosniff')
      .sendFile(`assets/${name}`, { maxAge: '365d', immutable: true });
  });
}

function sendPage(reply: FastifyReply): FastifyReply {
  return reply
    .headers({
      'content-security-policy': contentSecurityPolicy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    })
    .sendFile('index.html', { cacheControl: false });
}
