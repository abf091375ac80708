import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest';
import { type GeneratedProject, setUpProject } from '../packages/cli/test/generated-bots/generated-project.ts';
import { phoneBotOptions } from '../packages/cli/test/generated-bots/phone-bot.ts';
import { callBot, type PhoneCall } from '../packages/cli/test/generated-bots/phone-call.ts';
import { quickstartOptions } from '../packages/cli/test/generated-bots/quickstart-bot.ts';
import { fixedTranscript } from '../packages/cli/test/stand-in-vendors/deepgram.ts';
import { type StandInVendors, startStandInVendors } from '../packages/cli/test/stand-in-vendors/stand-in-vendors.ts';
import type { ConversationLineOf } from '../packages/contract/src/index.ts';
import { listUtterances, type RecordedBot, startRecordedBot } from './recorded-bot.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Versions of Pipecat for the complete table of `npm run test:long`. Empty: only the newest one, and two calls. */
    pipecatVersions: readonly string[];
  }
}

/** Calls unchanged generated bots under the Python host, and checks the conversation that the host records. */
const programs = fileURLToPath(new URL('../packages/cli/test/generated-bots', import.meta.url));
const answer = 'The capital of France is Paris.';
const headers = { 'bothost-conversation-level': 'recording' };
let standIns: StandInVendors;

beforeEach(async () => {
  standIns = await startStandInVendors();
});
afterEach(() => standIns.close());

/** Gives an older version of Pipecat the data of NLTK that it would download. */
async function provideSentenceData({ directory, run }: GeneratedProject, version: string | null): Promise<void> {
  if (version === null) return;
  const data = join(directory, 'nltk_data');
  await mkdir(data);
  // NLTK writes only to directories of its data.
  const { status, errors } = await run(['python', join(programs, 'write_sentence_data.py'), data], { NLTK_DATA: data });
  expect(status, errors).toBe(0);
  await appendFile(join(directory, '.env'), `NLTK_DATA=${data}\n`);
}

/** Runs the bot of a project until the end of the test. */
async function startRecording(project: GeneratedProject, version: string | null): Promise<RecordedBot> {
  await provideSentenceData(project, version);
  const bot = await startRecordedBot(project, standIns);
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') process.stderr.write(await bot.describe());
    await bot.stop();
    await project.remove();
  });
  return bot;
}

/** A replacement in a file of the project, as its author would make it. */
type Edit = readonly [file: string, before: string | RegExp, after: string];

async function edit(directory: string, edits: readonly Edit[]): Promise<void> {
  for (const [name, before, after] of edits) {
    const file = join(directory, name);
    const text = await readFile(file, 'utf8');
    const changed = text.replace(before, after);
    expect(changed, `${name} contains ${before}`).not.toBe(text);
    await writeFile(file, changed);
  }
}

/** A null version is the newest one. */
function pinned(version: string | null): readonly Edit[] {
  return version === null ? [] : [['pyproject.toml', />=1\.\d+\.0,<2"/, `==${version}"`]];
}

/** A phone bot, with the package with which `say.py` synthesizes speech. */
async function setUpPhoneBot(version: string | null, edits: readonly Edit[] = [], sttService?: string) {
  if (version === null) return setUpProject(phoneBotOptions, ['evals'], (directory) => edit(directory, edits));
  const options = { ...phoneBotOptions, enable_eval: false, ...(sttService ? { stt_service: sttService } : {}) };
  const speech: Edit = ['pyproject.toml', 'dependencies = [\n', 'dependencies = [\n    "espeakng-loader",\n'];
  return setUpProject(options, [], (directory) => edit(directory, [...pinned(version), speech, ...edits]));
}

/** Each moment is recorded once, nothing has the duration 0, and the usage is that of the requests. */
async function expectNeitherDoubledNorEmpty(recording: RecordedBot): Promise<void> {
  const speech = await recording.read('speech');
  for (const { from, to } of speech) expect(to ?? 0).toBeGreaterThan(from);
  for (const side of ['user', 'bot']) {
    const spans = speech.filter((one) => one.side === side);
    for (const [index, { from }] of spans.slice(1).entries())
      expect(from).toBeGreaterThanOrEqual(spans[index]?.to ?? Number.NaN);
  }
  for (const { ms, parts } of await recording.read('response'))
    for (const duration of [ms, ...parts.map((part) => part.ms)]) expect(duration).toBeGreaterThan(0);
  const usage = await recording.read('usage');
  const requests = standIns.visits.filter(({ vendor }) => vendor.startsWith('openai'));
  const models = usage.filter(({ role }) => role === 'llm');
  const answers = requests.flatMap(({ vendor, messages }) => (vendor === 'openai' ? [1] : messages));
  expect(models.map(({ totalTokens }) => totalTokens)).toEqual(answers.map(() => 18));
  const spoken = standIns.visits.flatMap(({ vendor, messages }) => (vendor === 'cartesia' ? messages : []));
  const sentences = spoken.map((message) => (message as { readonly transcript?: string }).transcript ?? '');
  const characters = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);
  expect(characters(usage.map((line) => line.characters ?? 0))).toBe(characters(sentences.map(({ length }) => length)));
}

/**
 * Returns the milliseconds by which each utterance in the recording of a call is misplaced: of the caller, then of the bot. Compares
 * each with the nearest one that was sent or received, because a busy machine interrupts what the caller receives.
 */
async function measureOnsets(project: GeneratedProject, { audioFile, read }: RecordedBot, { onsetsMs }: PhoneCall) {
  const startedAtMs = Date.parse((await read('services'))[0]?.startedAt ?? '');
  const found = await project.run(['python', join(programs, 'find_onsets.py'), audioFile]);
  const recorded: readonly (readonly number[])[] = JSON.parse(found.output);
  expect(recorded[0]).toHaveLength(onsetsMs.sent.length);
  expect(recorded[1]).not.toHaveLength(0);
  return [onsetsMs.sent, onsetsMs.received].map((expected, channel) =>
    (recorded[channel] ?? []).map((ms) => {
      const differences = expected.map((atMs) => ms - (atMs - startedAtMs));
      return differences.toSorted((a, b) => Math.abs(a) - Math.abs(b))[0] ?? Number.NaN;
    }),
  );
}

/** Waits for the recorded greeting, and returns what the bot had synthesized for it. Pipecat 1.9 loses a space in it. */
async function expectGreeting(recording: RecordedBot): Promise<string> {
  await expect.poll(() => listUtterances(recording), { timeout: 60_000 }).toHaveLength(1);
  const messages = standIns.visits.flatMap((visit) => (visit.vendor === 'cartesia' ? visit.messages : []));
  const sentences = messages.map((message) => (message as { readonly transcript?: string }).transcript ?? '');
  const greeting = sentences.join(' ').replace(/\s+/g, ' ').trim();
  expect(greeting.replaceAll(' ', '')).toBe('Hello,Iamastand-in.Iamheretohelp.');
  expect(await listUtterances(recording)).toEqual([`0 bot: ${greeting}`]);
  return greeting;
}

/** Asks twice after the greeting, with the fixed transcript of the stand-in, and hangs up. */
async function askTwice(project: GeneratedProject, recording: RecordedBot): Promise<void> {
  const question = await project.run(['python', join(programs, 'say.py'), fixedTranscript]);
  const call = await callBot(`ws://${recording.address}/ws`, {}, headers);
  const utterances = () => listUtterances(recording);
  const greeting = await expectGreeting(recording);
  for (const turn of [1, 2]) {
    await call.ask(question.output);
    await expect.poll(utterances, { timeout: 60_000 }).toContain(`${turn} bot: ${answer}`);
  }
  await call.hangUp();
  await expect.poll(() => recording.read('end')).toHaveLength(1);
  expect(await utterances()).toEqual([
    `0 bot: ${greeting}`,
    ...[1, 2].flatMap((turn) => [`${turn} user: ${fixedTranscript}`, `${turn} bot: ${answer}`]),
  ]);
}

const originsOf = (responses: readonly ConversationLineOf<'response'>[]) => responses.map((one) => one.measuredFrom);
const versions = inject('pipecatVersions');

describe.each(versions.length === 0 ? [null] : versions)(
  'the recorded conversation of a generated bot, Pipecat %s',
  (version) => {
    it('has the texts, response times, the interruption and the audio of a phone call', async () => {
      const project = await setUpPhoneBot(version);
      const recording = await startRecording(project, version);
      const question = await project.run(['python', join(programs, 'say.py'), fixedTranscript]);
      const call = await callBot(`ws://${recording.address}/ws`, {}, headers);
      const utterances = () => listUtterances(recording);
      const greeting = await expectGreeting(recording);
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
      expect(originsOf(responses)).toEqual(['connect', 'silence', 'silence', 'silence']);
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
      for (const line of await recording.read('usage'))
        expect(services?.map(({ name }) => name)).toContain(line.service);
      await expectNeitherDoubledNorEmpty(recording);
    });

    it('has the texts that a visitor typed over WebRTC', async () => {
      const project = await setUpProject(quickstartOptions, [], (directory) => edit(directory, pinned(version)));
      const recording = await startRecording(project, version);
      await visitByWebRtc(project, recording);
      expect(await listUtterances(recording)).toEqual([
        expect.stringMatching(/^0 bot: /),
        `1 user: ${fixedTranscript}`,
        `1 bot: ${answer}`,
        '2 user: Thank you.',
        '2 bot: You said: Thank you.',
      ]);
      expect(await recording.read('said')).toContainEqual(expect.objectContaining({ side: 'user', typed: true }));
      expect(originsOf(await recording.read('response'))).toEqual(['connect', 'release', 'release']);
      await expectNeitherDoubledNorEmpty(recording);
    });
  },
);

/** Visits the bot of the quickstart, and types two texts. Returns the kinds of messages that the visitor received. */
async function visitByWebRtc(project: GeneratedProject, { address }: RecordedBot): Promise<readonly string[]> {
  const started = fetch(`http://${address}/bot`, {
    method: 'POST',
    headers: { ...headers, 'x-transport-type': 'webrtc', 'content-type': 'application/json' },
    body: '{}',
  });
  const program = join(programs, 'webrtc_call.py');
  const visit = await project.run(['python', program, `http://${address}/api/offer`, fixedTranscript, 'Thank you.']);
  expect(visit.status, visit.errors).toBe(0);
  await (await started).text();
  return JSON.parse(visit.output).messages;
}

describe.each(versions)('the recorded conversation of a changed bot, Pipecat %s', (version) => {
  it('has response times and usage if the bot has metrics off, which its client does not receive', async () => {
    const project = await setUpProject(quickstartOptions, [], (directory) =>
      edit(directory, [
        ...pinned(version),
        ['bot.py', 'PipelineParams(enable_metrics=True, enable_usage_metrics=True)', 'PipelineParams()'],
      ]),
    );
    const recording = await startRecording(project, version);
    expect(await visitByWebRtc(project, recording)).not.toContain('metrics');
    for (const { parts } of (await recording.read('response')).slice(1))
      expect(parts.map(({ stage }) => stage)).toEqual(expect.arrayContaining(['llm', 'tts']));
    await expectNeitherDoubledNorEmpty(recording);
  });

  it('has a response for each turn from its release if a service decides the turns', async () => {
    const withoutVoiceDetection: readonly Edit[] = [
      ['bot.py', /\n *user_params=LLMUserAggregatorParams\(vad_analyzer=SileroVADAnalyzer\(\)\),/, ''],
    ];
    const project = await setUpPhoneBot(version, withoutVoiceDetection, 'deepgram_flux_stt');
    const recording = await startRecording(project, version);
    await askTwice(project, recording);
    expect(originsOf(await recording.read('response'))).toEqual(['connect', 'release', 'release']);
    expect((await recording.read('turn')).map(({ turn }) => turn)).toEqual([0, 1, 2]);
    await expectNeitherDoubledNorEmpty(recording);
  });
});
