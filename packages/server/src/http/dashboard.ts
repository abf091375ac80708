import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Paths of the single-page dashboard. The page itself evaluates the path. */
const pages = ['/', '/talk/:agent'];

/**
 * Allows no other hosts. `blob:` is for the audio worklets of the web client. WebSockets go to the service itself, also
 * under the host name that clients use.
 */
const contentSecurityPolicy = (serviceUrl: string) =>
  [
    "default-src 'self'",
    "script-src 'self' blob:",
    "img-src 'self' data:",
    `connect-src 'self' ${serviceUrl.replace(/^http/, 'ws')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; ');

/**
 * Serves the built dashboard. Assets are cached for a year, because their names contain a hash; the page itself is not
 * cached.
 */
export async function addDashboard(app: FastifyInstance): Promise<void> {
  const root = join(dirname(createRequire(import.meta.url).resolve('@bothost/dashboard/package.json')), 'dist');
  await app.register(fastifyStatic, { root, serve: false });
  for (const page of pages) app.get(page, (request, reply) => sendPage(reply, request.client.serviceUrl));
  app.get('/assets/*', (request, reply) => {
    const { '*': name } = request.params as { '*': string };
    return reply
      .header('x-content-type-options', 'nosniff')
      .sendFile(`assets/${name}`, { maxAge: '365d', immutable: true });
  });
}

function sendPage(reply: FastifyReply, serviceUrl: string): FastifyReply {
  return reply
    .headers({
      'content-security-policy': contentSecurityPolicy(serviceUrl),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    })
    .sendFile('index.html', { cacheControl: false });
}
