import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { buildProgram } from '../build-program.ts';
import { keys, runInTerminal } from '../run-in-terminal.ts';

let program: string;
let directory: string;
beforeAll(async () => {
  program = await buildProgram();
});
afterAll(() => rm(program, { recursive: true, force: true }));
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'botcli-terminal-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const start = () => runInTerminal(`"${process.execPath}" "${join(program, 'bin/botcli.js')}" init`, directory);

/** What the terminal shows, and the keys to press then. Chooses the wizard; most other answers are the defaults. */
const steps: readonly (readonly [shown: string, pressed: string])[] = [
  ['Directory of the project', `my-bot${keys.enter}`],
  ['How do you want to build', keys.down + keys.enter],
  ['Name of the project', keys.enter],
  ['How do people talk to the bot', keys.enter],
  ['Generate a web client', keys.down + keys.down + keys.enter],
  ['Which transport?', keys.enter],
  ['Another transport, for testing', keys.enter],
  ['How does the bot process speech', keys.enter],
  ['Which speech-to-text service', `soniox${keys.enter}`],
  ['Which language model service', keys.enter],
  ['Which text-to-speech service', keys.enter],
  ['Features (Space selects', keys.enter],
  ['Create this project', keys.enter],
];

/** Answers that lead to the other questions. */
const otherSteps: typeof steps = [
  ...steps.slice(0, 4),
  ['Generate a web client', keys.enter],
  ['Which build tool', keys.enter],
  ['Which transport?', keys.enter],
  ['Another transport, for testing', keys.enter],
  ['How does the bot process speech', keys.down + keys.enter],
  ['Which speech-to-speech service', keys.enter],
  ['Features (Space selects', keys.down.repeat(6) + keys.space + keys.enter],
  ['Which video avatar service', keys.enter],
  ['Create this project', keys.enter],
];

/** A phone bot, whose last answers contradict each other at first. */
const callSteps: typeof steps = [
  ...steps.slice(0, 3),
  ['How do people talk to the bot', keys.down + keys.enter],
  // The second phone transport, then a room for tests.
  ['Which transport?', keys.down + keys.enter],
  ['Another transport, for testing', keys.down + keys.enter],
  ['How does the bot process speech', keys.enter],
  ['Which speech-to-text service', keys.enter],
  ['Which language model service', keys.enter],
  ['Which text-to-speech service', keys.enter],
  // No deployment, but noise cancellation, which needs it.
  ['Features (Space selects', keys.space + keys.down.repeat(4) + keys.space + keys.enter],
  ['These answers do not work together', keys.enter],
  ['Features (Space selects', keys.space + keys.enter],
  ['Create this project', keys.enter],
];

test('Enter, Enter creates a bot with its services and prints the next steps', async () => {
  const terminal = start();
  await terminal.shows('Directory of the project');
  terminal.press(keys.enter);
  await terminal.shows('How do you want to build');
  terminal.press(keys.enter);
  const { status, shown } = await terminal.ended;
  expect({ status, shown }).toEqual({ status: 0, shown: expect.stringContaining('uv run bot.py') });
  const bot = await readFile(join(directory, 'voice-bot/server/bot.py'), 'utf8');
  for (const vendor of ['Deepgram', 'OpenAI', 'Cartesia']) expect(bot).toContain(`: ${vendor}`);
});

test('the wizard creates a project on a terminal and searches long lists', async () => {
  const terminal = start();
  for (const [shown, pressed] of steps) {
    await terminal.shows(shown);
    terminal.press(pressed);
  }
  const { status, shown } = await terminal.ended;
  expect({ status, shown }).toEqual({ status: 0, shown: expect.stringContaining('Files written') });
  // Node warns about leaked listeners if every question adds one to the signal.
  expect(shown).not.toContain('Warning');
  const answers = JSON.parse(await readFile(join(directory, 'my-bot/.botcli/project.json'), 'utf8'));
  expect(answers.configuration).toMatchObject({
    project_name: 'my-bot',
    transports: ['lightrtc'],
    stt_service: 'soniox_stt',
    llm_service: 'openai_responses_llm',
    tts_service: 'cartesia_tts',
    deploy_to_cloud: true,
  });
});

test('the wizard creates a phone bot after contradictory answers were corrected', async () => {
  const terminal = start();
  for (const [shown, pressed] of callSteps) {
    await terminal.shows(shown);
    terminal.press(pressed);
  }
  const { status, shown } = await terminal.ended;
  expect({ status, shown }).toEqual({ status: 0, shown: expect.stringContaining('To connect calls to the bot') });
  expect(shown).not.toContain('Generate a web client');
  const { configuration } = JSON.parse(await readFile(join(directory, 'my-bot/.botcli/project.json'), 'utf8'));
  expect(configuration).toMatchObject({
    bot_type: 'telephony',
    transports: ['carrier1_hostedrtc_sip_dialin', 'hostedrtc'],
    twilio_daily_sip_mode: 'dial-in',
    deploy_to_cloud: true,
    enable_nc: true,
  });
});

test('the wizard proposes the previous answers after going back', async () => {
  const terminal = start();
  const [before, between] = [steps.slice(0, 9), steps.slice(10, 11)];
  const answers: typeof steps = [
    ...before,
    ['Which language model service', `return to the previous question${keys.enter}`],
    ['Which speech-to-text service', keys.enter],
    ['Which language model service', keys.enter],
    ...between,
    // Selects the second feature next to the default one, then the last choice, which goes back.
    ['Features (Space selects', keys.down + keys.space + keys.down.repeat(8) + keys.space + keys.enter],
    ['Which text-to-speech service', keys.enter],
    ['Features (Space selects', keys.enter],
    ['Create this project', keys.down + keys.enter],
    ['Features (Space selects', keys.enter],
    ['Create this project', keys.enter],
  ];
  for (const [shown, pressed] of answers) {
    await terminal.shows(shown);
    terminal.press(pressed);
  }
  expect((await terminal.ended).status).toBe(0);
  const { configuration } = JSON.parse(await readFile(join(directory, 'my-bot/.botcli/project.json'), 'utf8'));
  expect(configuration).toMatchObject({ stt_service: 'soniox_stt', deploy_to_cloud: true, enable_eval: true });
});

test('Ctrl-C at the offer to replace guides keeps them', async () => {
  const guide = `# old\n\n<!-- botcli init 0.0.1 sha256:${'0'.repeat(64)} -->\n`;
  await writeFile(join(directory, 'AGENTS.md'), guide);
  const terminal = runInTerminal(`"${process.execPath}" "${join(program, 'bin/botcli.js')}" init .`, directory);
  await terminal.shows('How do you want to build');
  terminal.press(keys.down + keys.down + keys.enter);
  await terminal.shows('written by an older version');
  terminal.press(keys.ctrlC);
  expect((await terminal.ended).status).toBe(130);
  expect(await readdir(directory)).toEqual(['AGENTS.md']);
  expect(await readFile(join(directory, 'AGENTS.md'), 'utf8')).toBe(guide);
});

test('the wizard refuses ~ in a directory', async () => {
  const terminal = start();
  await terminal.shows('Directory of the project');
  terminal.press(`~/my-bot${keys.enter}`);
  await terminal.shows('in full');
  terminal.press(keys.ctrlC);
  expect((await terminal.ended).status).toBe(130);
  expect(await readdir(directory)).toEqual([]);
});

test('the wizard does not accept the default after a search without matches', async () => {
  const terminal = start();
  for (const [shown, pressed] of steps.slice(0, 8)) {
    await terminal.shows(shown);
    terminal.press(pressed);
  }
  await terminal.shows('Which speech-to-text service');
  terminal.press('zzzz');
  await terminal.shows('zzzz');
  terminal.press(keys.enter);
  await terminal.shows('No choice matches the search');
  terminal.press(keys.ctrlC);
  const { status, shown } = await terminal.ended;
  expect(status).toBe(130);
  expect(shown).not.toContain('Which language model service');
});

test.each([
  ...steps.map(([shown], index) => [shown, steps.slice(0, index)] as const),
  ...[5, 9, 11].map((index) => [otherSteps[index]?.[0] ?? '', otherSteps.slice(0, index)] as const),
  ...callSteps.flatMap(([shown], index) => (index < 4 ? [] : [[shown, callSteps.slice(0, index)] as const])),
])('Ctrl-C at "%s" cancels and writes nothing', async (asked, before) => {
  const terminal = start();
  for (const [shown, pressed] of before) {
    await terminal.shows(shown);
    terminal.press(pressed);
  }
  await terminal.shows(asked);
  terminal.press(keys.ctrlC);
  const { status, shown } = await terminal.ended;
  expect({ status, shown }).toEqual({ status: 130, shown: expect.stringContaining('Canceled. Nothing was written.') });
  expect(shown).not.toContain('error:');
  expect(await readdir(directory)).toEqual([]);
});
