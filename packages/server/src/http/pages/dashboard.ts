import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { talkPageBasePath } from '@bothost/contract';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authorizationPagePath } from '../api/authorization-server.ts';

/** Paths of the single-page dashboard. The page itself interprets the path. */
const pages = [
  ...['/', '/sign-in', '/sign-in/openid', '/join', '/reset-password', '/device', authorizationPagePath],
  ...['/orgs', '/orgs/*', '/settings', '/settings/*'],
];

type Sources = { readonly scripts: string; readonly styles: string };
const ownSources: Sources = { scripts: "'self'", styles: "'self'" };
/** Allow scripts from `blob:` URLs, because audio worklets are loaded from such URLs. */
const talkSources: Sources = { ...ownSources, scripts: "'self' blob:" };
/** Allow inline styles, because the library of the API reference adds style elements. */
const referenceSources: Sources = { ...ownSources, styles: "'self' 'unsafe-inline'" };

/** Allow WebSocket connections to the service itself, under the host name of the request. */
const contentSecurityPolicy = (serviceUrl: string, { scripts, styles }: Sources) =>
  [
    "default-src 'self'",
    `script-src ${scripts}`,
    `style-src ${styles}`,
    "img-src 'self' data:",
    `connect-src 'self' ${serviceUrl.replace(/^http/, 'ws')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; ');

/** Serves the dashboard and the documents, compressed. Assets are cached for a year; their names contain a hash. */
export async function addDashboardRoutes(app: FastifyInstance): Promise<void> {
  const root = join(dirname(createRequire(import.meta.url).resolve('@bothost/dashboard/package.json')), 'dist');
  await app.register(fastifyStatic, { root, serve: false, preCompressed: true });
  const addPage = (path: string, sources: Sources, file?: string) =>
    app.get(path, (request, reply) => sendDashboardPage(request, reply, sources, file));
  for (const page of pages) addPage(page, ownSources);
  for (const page of [`${talkPageBasePath}/:agent`, '/orgs/:organization/talk/:agent']) addPage(page, talkSources);
  addPage('/docs', referenceSources, 'docs/index.html');
  app.get('/docs/', (_, reply) => reply.redirect('/docs'));
  addPage('/docs/openapi.json', ownSources, 'docs/openapi.json');
  addPage('/help', ownSources, 'help/index.html');
  app.get<{ Params: { '*': string } }>('/help/*', (request, reply) => {
    const file = `help/${request.params['*'].replace(/\/$/, '') || 'index'}`;
    return sendDashboardPage(request, reply, ownSources, extname(file) === '' ? `${file}.html` : file);
  });
  app.get<{ Params: { '*': string } }>('/assets/*', ({ params }, reply) =>
    reply
      .headers({ 'x-content-type-options': 'nosniff', vary: 'accept-encoding' })
      .sendFile(`assets/${params['*']}`, { maxAge: '365d', immutable: true }),
  );
}

/** Whether a request is that of a browser for a page, and not that of a program. */
export function isPageRequest({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>): boolean {
  return method === 'GET' && (headers.accept ?? '').includes('text/html');
}

/** Sends a file of the dashboard: by default the single page, which says if nothing is at the path. */
export function sendDashboardPage(
  request: FastifyRequest,
  reply: FastifyReply,
  sources = ownSources,
  file = 'index.html',
): FastifyReply {
  return reply
    .headers({
      'content-security-policy': contentSecurityPolicy(request.client.serviceUrl, sources),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
      vary: 'accept-encoding',
    })
    .sendFile(file, { cacheControl: false });
}
