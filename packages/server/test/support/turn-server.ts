import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import type { TestCertificate } from '../../../runtime/test/test-authority.ts';
import { probeStun } from '../../src/checks/turn-probe.ts';
import { readDocumentedCode } from './documented-code.ts';
import { findFreePort } from './free-port.ts';

/**
 * An IPv4 address of this machine that is not loopback, because coturn refuses to relay to loopback addresses. Undefined if
 * there is none.
 */
export const networkAddress = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

/** Why no TURN server can be started, or null. */
export async function findMissingTurnServer(): Promise<string | null> {
  if (networkAddress === undefined) return 'this machine has no network';
  return promisify(execFile)('turnserver', ['--version']).then(
    () => null,
    () => 'coturn is not installed',
  );
}

export type TurnServer = {
  readonly address: string;
  readonly port: number;
  readonly tlsPort: number;
  readonly close: () => Promise<void>;
};

export type TurnServerOptions = {
  /** A directory in which this function makes one for the server. */
  readonly folder: string;
  /** The secret of the documented setting BOTHOST_TURN_SECRET. */
  readonly secret: string;
  readonly certificate: TestCertificate;
  /** Changes the documented configuration. */
  readonly edit?: (configuration: string) => string;
};

/** Starts coturn with the configuration of docs/media.md, for this machine as that of the bots. */
export async function startTurnServer(options: TurnServerOptions): Promise<TurnServer> {
  const { secret, certificate, edit = (text) => text } = options;
  const address = networkAddress ?? '';
  const folder = await mkdtemp(join(options.folder, 'turn-'));
  const [port, tlsPort] = [await findFreePort(), await findFreePort()];
  const configuration = await readDocumentedCode('media.md', 'ini', {
    'listening-port=3478': `listening-port=${port}`,
    'tls-listening-port=5349': `tls-listening-port=${tlsPort}`,
    '203.0.113.7': address,
    '10.0.0.5': address,
    'a-long-random-secret': secret,
    '/etc/ssl/turn.example.com/fullchain.pem': certificate.certificateFile,
    '/etc/ssl/turn.example.com/privkey.pem': certificate.keyFile,
  });
  const files = `log-file=stdout\nsimple-log\npidfile=${folder}/pid\nuserdb=${folder}/users\n`;
  await writeFile(join(folder, 'turnserver.conf'), `${edit(configuration)}${files}`);
  const server = spawn('turnserver', ['-c', join(folder, 'turnserver.conf')], {
    stdio: 'ignore',
  });
  const ended = once(server, 'exit');
  await vi.waitFor(() => probeStun({ scheme: 'stun', host: address, port, transport: 'tcp' }), {
    timeout: 10_000,
    interval: 50,
  });
  return {
    address,
    port,
    tlsPort,
    close: async () => {
      server.kill('SIGTERM');
      await ended;
    },
  };
}
