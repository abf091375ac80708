import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it, onTestFailed } from 'vitest';
import { setUpProject } from '../../packages/cli/test/generated-bots/generated-project.ts';
import { phoneBotServices } from '../../packages/cli/test/generated-bots/phone-bot.ts';
import { pitchHertz } from '../../packages/cli/test/stand-in-vendors/cartesia.ts';
import { fixedTranscript } from '../../packages/cli/test/stand-in-vendors/deepgram.ts';
import { startStandInVendors } from '../../packages/cli/test/stand-in-vendors/stand-in-vendors.ts';
import { conversationLevelHeader } from '../../packages/contract/src/index.ts';
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

/** Unix milliseconds of the last sound that the caller sent, and of the first sound of the answer that it heard. */
type Question = { readonly askedAt: number; readonly answeredAt: number };
type Call = { readonly questions: readonly Question[]; readonly pitch: number; readonly overheardSeconds: number };

/** Talks to a bot. `repeats` is how often the question is asked. */
async function talk(repeats: number, ...parameters: readonly string[]): Promise<Call> {
  const program = join(import.meta.dirname, 'spoken_call.py');
  return JSON.parse(await runPython(program, question, String(repeats), ...parameters));
}

type Response = {
  readonly totalMs: number;
  readonly toBotMs: number;
  readonly inBotMs: number;
  readonly backMs: number;
};

/**
 * Splits each response into the way to the bot, the time in the bot, and the way back. The bot's part depends on how busy the machine
 * is, so only the ways compare two transports. All times are those of this machine's clock.
 */
async function splitResponses({ questions }: Call): Promise<readonly Response[]> {
  const [services] = (await bot.read('services')).filter(({ startedAt }) => startedAt !== undefined);
  const sessionAt = Date.parse(services?.startedAt ?? '');
  const responses = (await bot.read('response')).map(({ from, ms }) => ({ heardAt: sessionAt + from, ms }));
  return questions.map(({ askedAt, answeredAt }) => {
    const response = responses.findLast(({ heardAt, ms }) => heardAt + ms <= answeredAt);
    if (response === undefined) expect.fail('the bot recorded no response');
    const { heardAt, ms } = response;
    return {
      totalMs: answeredAt - askedAt,
      toBotMs: heardAt - askedAt,
      inBotMs: ms,
      backMs: answeredAt - heardAt - ms,
    };
  });
}

function printResponses(transport: string, responses: readonly Response[]): void {
  const mean = (part: keyof Response) =>
    Math.round(responses.reduce((sum, response) => sum + response[part], 0) / responses.length);
  const ways = `${mean('toBotMs')} ms to the bot and ${mean('backMs')} ms back`;
  process.stdout.write(
    `A response by ${transport} takes ${mean('totalMs')} ms on average: ${ways}, ${mean('inBotMs')} ms in the bot.\n`,
  );
}

/** Starts a session as the service does. `ended` resolves with the status of its end. */
function startSession(headers: Readonly<Record<string, string>>, body = '{}'): Promise<number> {
  onTestFailed(async () => {
    process.stderr.write(`${await bot.describe()}\n${livekit.output()}`);
  });
  const json = { 'content-type': 'application/json', [conversationLevelHeader]: 'timings' };
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
    await bot.forget();
    const { room, url, token, ended } = await startInRoom();
    const listener = await rooms.admit(room.name, { name: 'Listener', expiresAt });
    const inRoom = await talk(3, 'livekit', url, token, listener.token);
    printResponses('LiveKit', await splitResponses(inRoom));
    expect(inRoom.pitch).toBeCloseTo(pitchHertz, -1.5);
    expect(inRoom.overheardSeconds).toBeGreaterThan(1);
    expect(await ended).toBe(200);
    await rooms.remove(room, signal);
    await rooms.remove(room, signal);
    expect(await livekit.countPublishers(room.name)).toBe(0);

    await bot.forget();
    const peer = startSession({ 'x-transport-type': 'webrtc' });
    const direct = await talk(3, 'webrtc', `http://${bot.address}/api/offer`);
    await peer;
    printResponses('WebRTC', await splitResponses(direct));
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
    const { questions } = await talk(1, 'livekit', url, token);
    expect(questions).toHaveLength(1);
    expect(await ended).toBe(200);
    await rooms.remove(room, signal);
  });
});
