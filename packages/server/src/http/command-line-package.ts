import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { commandLinePackagePath } from '@bothost/contract';
import type { FastifyInstance } from 'fastify';

/**
 * Serves the npm package of `botcli` that was built with this service. npm caches it and asks with its `ETag` whether it has
 * changed.
 */
export function addCommandLinePackage(app: FastifyInstance): void {
  let loading: Promise<{ readonly bytes: Buffer; readonly etag: string }> | undefined;
  app.get(commandLinePackagePath, async ({ headers }, reply) => {
    loading ??= load();
    const { bytes, etag } = await loading;
    reply.headers({ etag, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' });
    if (matches(headers['if-none-match'], etag)) return reply.code(304).send();
    return reply.type('application/gzip').send(bytes);
  });
}

async function load() {
  const bytes = await readFile(new URL('../../dist/botcli.tgz', import.meta.url));
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
}

/** Compares weakly, because a proxy that compresses responses makes their tags weak (RFC 9110, section 13.1.2). */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags?.some((tag) => tag === '*' || tag === etag) ?? false;
}
