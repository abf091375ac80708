import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Where the pages live in the address bar; each is the one page of the dashboard, which looks at the address itself. */
const pages = ['/', '/talk/:agent'];

/**
 * Nothing from another host. `blob:` is for the sound worklets of the web client. Sockets go to the service itself, also
 * under the name that its clients know.
 */
const contentSecurityPolicy = (publicUrl: string) =>
  [
    "default-src 'self'",
    "script-src 'self' blob:",
    "img-src 'self' data:",
    `connect-src 'self' ${publicUrl.replace(/^http/, 'ws')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; ');

/** Serves the built dashboard: its assets for a year (their names hold their hash), its page fresh. */
export async function addDashboard(app: FastifyInstance, publicUrl: () => string): Promise<void> {
  const root = join(dirname(createRequire(import.meta.url).resolve('@bothost/dashboard/package.json')), 'dist');
  await app.register(fastifyStatic, { root, serve: false });
  for (const page of pages) app.get(page, (_, reply) => sendPage(reply, publicUrl()));
  app.get('/assets/*', (request, reply) => {
    const { '*': name } = request.params as { '*': string };
    return reply
      .header('x-content-type-options', 'nosniff')
      .sendFile(`assets/${name}`, { maxAge: '365d', immutable: true });
  });
}

function sendPage(reply: FastifyReply, publicUrl: string): FastifyReply {
  return reply
    .headers({
      'content-security-policy': contentSecurityPolicy(publicUrl),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    })
    .sendFile('index.html', { cacheControl: false });
}
