import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** The fields of the `npm publish` request body that this registry reads. */
type Publication = {
  readonly versions: Readonly<Record<string, object>>;
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
};

/** An npm registry in memory. Redirects requests for packages that were not published here to another registry. */
export type NpmRegistry = {
  readonly url: string;
  /** Names of the published packages, in the order of their publication. */
  readonly published: readonly string[];
  readonly close: () => Promise<unknown>;
};

/**
 * Starts an npm registry on a loopback port. Requests for packages that were not published to it are redirected to the
 * registry at the URL `upstream`.
 */
export async function startNpmRegistry(upstream: string): Promise<NpmRegistry> {
  const documents = new Map<string, Publication>();
  const tarballs = new Map<string, Buffer>();
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1);
    if (request.method === 'PUT') {
      const publication = (await json(request)) as Publication;
      documents.set(path, publication);
      for (const [name, { data }] of Object.entries(publication._attachments)) {
        tarballs.set(`${path}/-/${name}`, Buffer.from(data, 'base64'));
      }
      response.writeHead(201).end('{}');
      return;
    }
    const found = documents.get(path);
    if (found !== undefined) response.end(JSON.stringify({ ...found, _attachments: undefined }));
    else if (tarballs.has(path)) response.end(tarballs.get(path));
    else response.writeHead(302, { location: new URL(request.url ?? '', upstream).href }).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    get published() {
      return [...documents.keys()];
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
