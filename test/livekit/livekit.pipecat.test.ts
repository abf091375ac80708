import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it, onTestFailed } from 'vitest';
import { setUpProject } from '../../packages/cli/test/generated-bots/generated-project.ts';
import { phoneBotServices } from '../../packages/cli/test/generated-bots/phone-bot.ts';
import { pitchHertz } from '../../packages/cli/test/stand-in-vendors/cartesia.ts';
import { fixedTranscript } from '../../packages/cli/test/stand-in-vendors/deepgram.ts';
import { startStandInVendors } from '../../packages/cli/test/stand-in-vendors/stand-in-vendors.ts';
import { createLiveKitRooms } from '../../packages/server/src/rooms/livekit/livekit-rooms.ts';
import { startRecordedBot } from '../recorded-bot.ts';
import { startLiveKitServer } from './livekit-server.ts';

/** Runs an unchanged generated bot under the Python host, in rooms that the service creates on a genuine LiveKit server. */
const options = {
  project_name: 'Rooms',
  transports: ['livekit', 'lightrtc'],
  mode: 'cascade',
  ...phoneBotServices,
  enable_eval: true,
} as const;
const livekit = await startLiveKitServer();
const standIns = await startStandInVendors();
const project = await setUpProject(options, ['evals']);
const bot = await startRecordedBot(project, standIns);
afterAll(async () => {
  await bot.stop();
  await project.remove();
  await standIns.close();
  await livekit.close();
});
const rooms = createLiveKitRooms(livekit.server, { now: () => new Date(), logger: { error: () => undefined } });
const expiresAt = new Date(Date.now() + 600_000);
const { signal } = new AbortController();

async function runPython(program: string, ...parameters: readonly string[]): Promise<string> {
  const { status, output, errors } = await project.run(['python', program, ...parameters]);
  expect(status, errors).toBe(0);
  return output;
}

const generatedBots = fileURLToPath(new URL('../../packages/cli/test/generated-bots', import.meta.url));
const question = (await runPython(join(generatedBots, 'say.py'), fixedTranscript)).trim();

type Call = { readonly responsesMs: readonly number[]; readonly pitch: number; readonly overheardSeconds: number };

/** Talks to a bot. `repeats` is how often the question is asked. */
async function talk(repeats: number, ...parameters: readonly string[]): Promise<Call> {
  const program = join(import.meta.dirname, 'spoken_call.py');
  return JSON.parse(await runPython(program, question, String(repeats), ...parameters));
}

/** Starts a session as the service does. `ended` resolves with the status of its end. */
function startSession(headers: Readonly<Record<string, string>>, body = '{}'): Promise<number> {
  onTestFailed(async () => {
    process.stderr.write(`${await bot.describe()}\n${livekit.output()}`);
  });
  const json = { 'content-type': 'application/json' };
  return fetch(`http://${bot.address}/bot`, { method: 'POST', headers: { ...headers, ...json }, body }).then(
    ({ status }) => status,
  );
}

async function startInRoom() {
  const room = { organizationId: 'o', name: `bothost-${randomUUID()}` };
  const created = await rooms.create({ ...room, expiresAt, roomProperties: {}, tokenProperties: {} });
  const request = await rooms.createBotRequest('o', created.bot, '{}');
  const ended = startSession({ ...request.headers, 'x-transport-type': 'livekit' }, request.body);
  const { url = '', token = '' } = created.response;
  await expect.poll(() => livekit.countPublishers(room.name)).toBe(1);
  return { room, url, token, ended };
}

describe('a bot in a room of LiveKit', () => {
  it('answers one of two people, like a peer over WebRTC, and ends its session when they leave', async () => {
    const { room, url, token, ended } = await startInRoom();
    const listener = await rooms.admit(room.name, { name: 'Listener', expiresAt });
    const inRoom = await talk(2, 'livekit', url, token, listener.token);
    expect(inRoom.pitch).toBeCloseTo(pitchHertz, -1.5);
    expect(inRoom.overheardSeconds).toBeGreaterThan(1);
    expect(await ended).toBe(200);
    await rooms.remove(room, signal);
    await rooms.remove(room, signal);
    expect(await livekit.countPublishers(room.name)).toBe(0);

    const peer = startSession({ 'x-transport-type': 'webrtc' });
    const direct = await talk(2, 'webrtc', `http://${bot.address}/api/offer`);
    await peer;
    process.stdout.write(`Responses after ${inRoom.responsesMs} ms by LiveKit, ${direct.responsesMs} ms by WebRTC.\n`);
    expect(direct.pitch).toBeCloseTo(pitchHertz, -1.5);
  });

  it('ends its session when its room is closed', async () => {
    const { room, ended } = await startInRoom();
    await rooms.remove(room, signal);
    expect(await ended).toBe(200);
  });

  it('joins its room again after a restart of the LiveKit server, and answers the person who comes then', async () => {
    const { room, url, token, ended } = await startInRoom();
    await livekit.restart();
    const { responsesMs } = await talk(1, 'livekit', url, token);
    expect(responsesMs).toHaveLength(1);
    expect(await ended).toBe(200);
    await rooms.remove(room, signal);
  });
});
