import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import {
  findFreePort,
  type RunningProgram,
  startProgram,
} from '../../packages/cli/test/generated-bots/start-program.ts';
import type { LiveKitServer } from '../../packages/server/src/rooms/livekit/livekit-server.ts';
import { installGoProgram } from '../go-program.ts';

/** The newest version whose dependencies are all published as Go modules. */
const version = '1.9.11';
const loopback = '127.0.0.1';

type Participant = { readonly state: string; readonly tracks: readonly object[] };

/** A LiveKit server. */
type TestLiveKitServer = {
  readonly server: LiveKitServer;
  /** Returns how many participants of a room have a track, as a bot has once it has joined. 0 if the room does not exist. */
  readonly countPublishers: (room: string) => Promise<number>;
  /** What the server has printed since its last start. */
  readonly output: () => string;
  /** Kills the server and starts it again on the same port. */
  readonly restart: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Starts the genuine LiveKit server on an address of this machine. */
export async function startLiveKitServer(address = loopback): Promise<TestLiveKitServer> {
  const source = `github.com/livekit/livekit-server/cmd/server@v${version}`;
  const program = await installGoProgram(`livekit-server-${version}`, source);
  const folder = await mkdtemp(join(tmpdir(), 'bothost-livekit-'));
  const config = join(folder, 'livekit.json');
  const [port, tcpPort, udpPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const key = { name: 'test-key', secret: 's3cret-'.repeat(6) };
  // YAML, of which JSON is a subset.
  const content = {
    port,
    bind_addresses: [address],
    rtc: {
      node_ip: address,
      use_external_ip: false,
      ...(address === loopback ? { enable_loopback_candidate: true, interfaces: { includes: ['lo'] } } : {}),
      tcp_port: tcpPort,
      udp_port: udpPort,
    },
    keys: { [key.name]: key.secret },
  };
  await writeFile(config, JSON.stringify(content), { mode: 0o600 });
  const start = () => {
    const child = spawn(program, ['--config', config], { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    return startProgram(child, `http://${address}:${port}`);
  };
  let running: RunningProgram = await start();
  return {
    server: { url: `ws://${address}:${port}`, apiKey: key.name, apiSecret: key.secret },
    countPublishers: async (room) => {
      const token = await new SignJWT({ video: { roomAdmin: true, room } })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuer(key.name)
        .setExpirationTime('5 minutes')
        .sign(Buffer.from(key.secret));
      const response = await fetch(`http://${address}:${port}/twirp/livekit.RoomService/ListParticipants`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ room }),
      });
      const { participants = [] } = (await response.json()) as { readonly participants?: readonly Participant[] };
      return participants.filter(({ state, tracks }) => state === 'ACTIVE' && tracks.length > 0).length;
    },
    output: () => running.output(),
    restart: async () => {
      await running.stop();
      running = await start();
    },
    close: async () => {
      await running.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
