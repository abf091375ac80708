import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type IceServer, parseIceUrl } from '@bothost/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeUnless } from '../../runtime/test/skip-with-reason.ts';
import { createTestAuthority } from '../../runtime/test/test-authority.ts';
import { probeTurn, type TurnProbeResult } from '../src/checks/turn-probe.ts';
import { createSessionIceServers } from '../src/sessions/ice-servers.ts';
import { findMissingTurnServer, networkAddress, startTurnServer, type TurnServer } from './support/turn-server.ts';

const secret = 'shared-by-service-and-relay';
const sessionId = '0192f0c4-7d2a-7c11-8a53-6f2f4d1f0a11';

describeUnless(await findMissingTurnServer(), 'a TURN server with the configuration of docs/media.md', () => {
  let folder: string;
  let turnServer: TurnServer;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'turn-'));
    const certificate = await (await createTestAuthority(folder)).issue([`IP:${networkAddress}`]);
    turnServer = await startTurnServer({ folder, secret, certificate });
  });
  afterAll(async () => {
    await turnServer?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** The credentials of a session of at most ten minutes that started at this time. */
  function issueCredentials(startedAt: Date, turnSecret = secret): IceServer {
    const iceServers = [{ urls: [`turn:${turnServer.address}:${turnServer.port}`] }];
    const [server] = createSessionIceServers(
      { iceServers, turnSecret },
      () => startedAt,
    )({
      id: sessionId,
      maxSeconds: 600,
      startedAt,
    });
    return server ?? { urls: [] };
  }

  async function probe(server: IceServer): Promise<TurnProbeResult> {
    const url = parseIceUrl(server.urls[0] ?? '');
    if (url === null) throw new Error('The URL of the TURN server is not valid.');
    return probeTurn(url, server);
  }

  it('relays with the credentials of a session to the bots, and to no other private address', async () => {
    expect(await probe(issueCredentials(new Date()))).toEqual({
      kind: 'relay',
      relayedAddress: turnServer.address,
      ownAddress: turnServer.address,
      relaysToBots: true,
      openAddress: null,
    });
  });

  it('refuses expired credentials', async () => {
    const longAgo = new Date(Date.now() - 21 * 60_000);
    expect(await probe(issueCredentials(longAgo))).toEqual({ kind: 'credentials-refused' });
    const almost = new Date(Date.now() - 19 * 60_000);
    expect(await probe(issueCredentials(almost))).toMatchObject({ kind: 'relay' });
  });

  it.each<[string, (genuine: IceServer) => Partial<IceServer>]>([
    ['of another secret', () => issueCredentials(new Date(), 'guessed')],
    ['whose expiry was changed', ({ username = '' }) => ({ username: username.replace(/^\d/, '9') })],
    ['of another session', ({ username = '' }) => ({ username: username.replace(/.$/, '0') })],
    ['that are empty', () => ({ username: '', credential: '' })],
    [
      'that a client made without a secret',
      ({ username = '' }) => ({ credential: createHmac('sha1', '').update(username).digest('base64') }),
    ],
  ])('refuses credentials %s', async (_, forge) => {
    const genuine = issueCredentials(new Date());
    expect(await probe({ ...genuine, ...forge(genuine) })).toEqual({ kind: 'credentials-refused' });
  });

  it('has no command line port', async () => {
    const socket = connect({ host: '127.0.0.1', port: 5766 });
    await expect(once(socket, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
