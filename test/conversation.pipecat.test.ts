import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type GeneratedProject, setUpProject } from '../packages/cli/test/generated-bots/generated-project.ts';
import { phoneBotOptions } from '../packages/cli/test/generated-bots/phone-bot.ts';
import { callBot, type PhoneCall } from '../packages/cli/test/generated-bots/phone-call.ts';
import { quickstartOptions } from '../packages/cli/test/generated-bots/quickstart-bot.ts';
import { findFreePort, startProgram } from '../packages/cli/test/generated-bots/start-program.ts';
import { fixedTranscript } from '../packages/cli/test/stand-in-vendors/deepgram.ts';
import { type StandInVendors, startStandInVendors } from '../packages/cli/test/stand-in-vendors/stand-in-vendors.ts';
import {
  BotConversationLine,
  type ConversationLineOf,
  getConversationLineKey,
} from '../packages/contract/src/index.ts';

/** Calls unchanged generated bots under the Python host, and checks the conversation that the host records. */
const vendors = fileURLToPath(new URL('../packages/cli/test/stand-in-vendors/reach_stand_ins.py', import.meta.url));
const programs = fileURLToPath(new URL('../packages/cli/test/generated-bots', import.meta.url));
const host = fileURLToPath(new URL('../runtimes/python/src', import.meta.url));
const greeting = 'Hello, I am a stand-in. I am here to help.';
const answer = 'The capital of France is Paris.';
const headers = { 'bothost-conversation-level': 'recording' };
let standIns: StandInVendors;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bothost-conversation-'));
  standIns = await startStandInVendors();
});
afterEach(() => standIns.close());

type Kind = BotConversationLine['kind'];
type Recording = {
  readonly address: string;
  readonly audioFile: string;
  /** Returns the latest version of each line of a kind. Throws if a line does not have the form of the contract. */
  readonly read: <K extends Kind>(kind: K) => Promise<readonly ConversationLineOf<K>[]>;
};

/** Runs the bot of a project under the Python host until the end of the test. */
async function startRecording(project: GeneratedProject): Promise<Recording> {
  const file = join(folder, 'conversation');
  const audioFile = join(folder, 'recording');
  await writeFile(file, '');
  await writeFile(audioFile, '');
  const address = `127.0.0.1:${await findFreePort()}`;
  const child = project.spawn(['--env-file', '.env', 'python', '-m', 'bothost_shim'], {
    OPENAI_BASE_URL: `http://${standIns.address}/v1`,
    STAND_INS: standIns.address,
    PIPECAT_SETUP_FILES: vendors,
    PYTHONPATH: host,
    BOT_HOST: '127.0.0.1',
    PORT: address.split(':')[1],
    BOTHOST_CONVERSATION_FILE: file,
    BOTHOST_RECORDING_FILE: audioFile,
  });
  const bot = await startProgram(child, `http://${address}/readyz`);
  onTestFinished(async ({ task }) => {
    await bot.stop();
    await project.remove();
    if (task.result?.state === 'fail') process.stderr.write(`${bot.output()}\n${await readFile(file, 'utf8')}`);
    await rm(folder, { recursive: true, force: true });
  });
  return {
    address,
    audioFile,
    read: async (kind) => {
      const text = await readFile(file, 'utf8');
      const lines = text.split('\n').slice(0, -1);
      const latest = new Map<string, BotConversationLine>();
      for (const [index, line] of lines.entries()) {
        const parsed = BotConversationLine.parse(JSON.parse(line));
        latest.set(getConversationLineKey(parsed) ?? String(index), parsed);
      }
      const isOfKind = (line: BotConversationLine): line is ConversationLineOf<typeof kind> => line.kind === kind;
      return [...latest.values()].filter(isOfKind);
    },
  };
}

/** What each side said in each turn, and whether it was interrupted. Utterances that are still being spoken are left out. */
async function listUtterances({ read }: Recording): Promise<readonly string[]> {
  const said = (await read('said')).filter(({ to }) => to !== null);
  return said.map(({ turn, side, text, interrupted }) => `${turn} ${side}: ${text}${interrupted === true ? ' -' : ''}`);
}

/** Returns the milliseconds by which each utterance of a call is misplaced in the recording: of the caller, then of the bot. */
async function measureOnsets(project: GeneratedProject, { audioFile, read }: Recording, { onsetsMs }: PhoneCall) {
  const startedAtMs = Date.parse((await read('services'))[0]?.startedAt ?? '');
  const found = await project.run(['python', join(programs, 'find_onsets.py'), audioFile]);
  const recorded: readonly (readonly number[])[] = JSON.parse(found.output);
  return [onsetsMs.sent, onsetsMs.received].map((expected, channel) => {
    const onsets = recorded[channel] ?? [];
    expect(onsets).toHaveLength(expected.length);
    return onsets.map((ms, index) => ms - ((expected[index] ?? 0) - startedAtMs));
  });
}

describe('the recorded conversation of a generated bot', () => {
  it('has the texts, response times, the interruption and the audio of a phone call', async () => {
    const project = await setUpProject(phoneBotOptions, ['evals']);
    const recording = await startRecording(project);
    const question = await project.run(['python', join(programs, 'say.py'), fixedTranscript]);
    const call = await callBot(`ws://${recording.address}/ws`, {}, headers);
    const utterances = () => listUtterances(recording);
    await expect.poll(utterances, { timeout: 60_000 }).toEqual([`0 bot: ${greeting}`]);
    const heardAfterMs = [await call.ask(question.output)];
    await expect.poll(utterances, { timeout: 60_000 }).toContain(`1 bot: ${answer}`);

    await call.listen(0.1);
    await call.ask(question.output);
    await call.listen(0.4);
    heardAfterMs.push(await call.ask(question.output));
    await expect.poll(utterances, { timeout: 60_000 }).toContain(`3 bot: ${answer}`);
    await call.hangUp();
    await expect.poll(() => recording.read('end')).toMatchObject([{ reason: 'client-disconnected' }]);

    const said = await utterances();
    const cut = /^2 bot: (.*) -$/.exec(said.find((one) => one.startsWith('2 bot')) ?? '')?.[1] ?? 'not interrupted';
    expect(answer.startsWith(cut) && cut.length < answer.length, cut).toBe(true);
    expect(said).toEqual([
      `0 bot: ${greeting}`,
      `1 user: ${fixedTranscript}`,
      `1 bot: ${answer}`,
      `2 user: ${fixedTranscript}`,
      `2 bot: ${cut} -`,
      `3 user: ${fixedTranscript}`,
      `3 bot: ${answer}`,
    ]);
    const turns = await recording.read('turn');
    expect(turns.map(({ interrupted }) => interrupted === true)).toEqual([false, false, true, false]);
    const responses = await recording.read('response');
    expect(responses.map(({ measuredFrom }) => measuredFrom)).toEqual(['connect', 'silence', 'silence', 'silence']);
    // The smaller of two differences, because a busy machine delays the caller's clock, too.
    const differences = heardAfterMs.map((ms, index) => Math.abs(ms - (responses[[1, 3][index] ?? 0]?.ms ?? 0)));
    process.stdout.write(
      `The caller heard responses after ${heardAfterMs} ms, ${differences} ms apart from the record.\n`,
    );
    expect(Math.min(...differences)).toBeLessThan(100);
    expect(responses[1]?.parts.map(({ stage }) => stage)).toEqual(
      expect.arrayContaining(['endpointing', 'turn-detection', 'llm', 'tts']),
    );
    const services = (await recording.read('services'))[0]?.services;
    expect(services?.map(({ role, vendor }) => `${role} ${vendor}`)).toEqual(
      expect.arrayContaining(['stt deepgram', 'llm openai', 'tts cartesia']),
    );
    expect(await recording.read('error')).toEqual([]);
    const [sent = [], received = []] = await measureOnsets(project, recording, call);
    process.stdout.write(`The recording has utterances ${sent} ms after the caller, ${received} ms after the bot.\n`);
    expect([sent.length, received.length]).toEqual([3, 4]);
    // Without the largest difference of the bot, because a busy machine delays the caller's clock.
    const differencesMs = [
      ...sent,
      ...received
        .map(Math.abs)
        .toSorted((a, b) => a - b)
        .slice(0, -1),
    ].map(Math.abs);
    for (const ms of differencesMs) expect(ms).toBeLessThan(50);
    for (const line of await recording.read('usage')) expect(services?.map(({ name }) => name)).toContain(line.service);
  });

  it('has the text that a visitor typed over WebRTC', async () => {
    const project = await setUpProject(quickstartOptions, []);
    const recording = await startRecording(project);
    const started = fetch(`http://${recording.address}/bot`, {
      method: 'POST',
      headers: { ...headers, 'x-transport-type': 'webrtc', 'content-type': 'application/json' },
      body: '{}',
    });
    const offer = `http://${recording.address}/api/offer`;
    const visit = await project.run(['python', join(programs, 'webrtc_call.py'), offer, fixedTranscript]);
    expect(visit.status, visit.errors).toBe(0);
    await (await started).text();
    expect(await listUtterances(recording)).toEqual([
      expect.stringMatching(/^0 bot: /),
      `1 user: ${fixedTranscript}`,
      `1 bot: ${answer}`,
    ]);
    expect(await recording.read('said')).toContainEqual(expect.objectContaining({ side: 'user', typed: true }));
    const responses = await recording.read('response');
    expect(responses.map(({ measuredFrom }) => measuredFrom)).toEqual(['connect', 'release']);
  });
});
