import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

const manifestType = 'application/vnd.docker.distribution.manifest.v2+json';

/** Contents of an image with one layer, in which one file is `bytes` long. */
export function createOneLayerImage(bytes: number, architecture = 'amd64', statedBytes?: number) {
  const layer = createTar('file', Buffer.alloc(bytes, 1));
  const digestOf = (content: Buffer) => `sha256:${createHash('sha256').update(content).digest('hex')}`;
  // Without compression, so that the size that is sent is known.
  const archive = gzipSync(layer, { level: 0 });
  const configuration = Buffer.from(
    JSON.stringify({
      architecture,
      os: 'linux',
      config: { Cmd: ['/file'] },
      rootfs: { type: 'layers', diff_ids: [digestOf(layer)] },
    }),
  );
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: manifestType,
      config: {
        mediaType: 'application/vnd.docker.container.image.v1+json',
        size: configuration.length,
        digest: digestOf(configuration),
      },
      layers: [
        {
          mediaType: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
          size: statedBytes ?? archive.length,
          digest: digestOf(archive),
        },
      ],
    }),
  );
  return { manifest, configuration, archive, layerDigest: digestOf(archive), digest: digestOf(manifest) };
}
export type OneLayerImage = ReturnType<typeof createOneLayerImage>;

type SendLayer = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers like a registry that has one image under every name. `sendLayer` replaces how its layer is sent. */
export function serveImage(image: OneLayerImage, sendLayer?: SendLayer): RequestListener {
  return (request, response) => {
    const url = request.url ?? '';
    if (url === '/v2/') return void response.end('{}');
    if (url.includes('/manifests/')) {
      const headers = { 'content-type': manifestType, 'docker-content-digest': image.digest };
      response.writeHead(200, { ...headers, 'content-length': image.manifest.length });
      return void response.end(request.method === 'HEAD' ? undefined : image.manifest);
    }
    if (!url.endsWith(image.layerDigest)) return void response.end(image.configuration);
    if (sendLayer === undefined) response.end(image.archive);
    else sendLayer(request, response);
  };
}

/** Listens on a free port of the loopback address, where an engine also accepts a registry without TLS. */
export async function startHttpRegistry(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { port, close };
}

/** Makes a tar archive with one file (POSIX ustar). */
function createTar(name: string, content: Buffer): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000755\0', 100);
  header.write('0000000\0'.repeat(2), 108);
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write(`${'0'.repeat(11)}\0`, 136);
  header.write(' '.repeat(8), 148);
  header.write('0ustar\0', 156);
  header.write('00', 263);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const padding = Buffer.alloc((512 - (content.length % 512)) % 512);
  return Buffer.concat([header, content, padding, Buffer.alloc(1024)]);
}
