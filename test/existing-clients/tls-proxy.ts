import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type TlsProxy = { readonly url: string; readonly close: () => void };

/** Creates a certificate for 127.0.0.1 in a directory, and returns the path of its file. */
export async function createCertificate(directory: string): Promise<string> {
  const certificate = join(directory, 'certificate.pem');
  const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const files = ['-keyout', join(directory, 'key.pem'), '-out', certificate];
  await promisify(execFile)('openssl', ['req', '-x509', ...kind, ...names, ...files]);
  return certificate;
}

/** Proxies HTTPS requests to a service, using the certificate in this directory. The service must trust 127.0.0.1 as a proxy. */
export async function startTlsProxy(directory: string, serviceUrl: string): Promise<TlsProxy> {
  const [cert, key] = await Promise.all(
    ['certificate.pem', 'key.pem'].map((name) => readFile(join(directory, name), 'utf8')),
  );
  const server = createServer({ cert, key }, (incoming, outgoing) => {
    const { method, headers, url } = incoming;
    const options = { method, headers: { ...headers, 'x-forwarded-proto': 'https' } };
    const forwarded = request(`${serviceUrl}${url}`, options, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
