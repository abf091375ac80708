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

/** What is shown, and what is pressed then; everything but the first choice is the proposed one. */
const steps: readonly (readonly [shown: string, pressed: string])[] = [
  ['Directory of the project', `my-bot${keys.enter}`],
  ['How do you want to build', keys.down + keys.enter],
  ['Name of the project', keys.enter],
  ['How do people talk to it', keys.enter],
  ['Generate a web client', keys.down + keys.down + keys.enter],
  ['How is the bot reached', keys.enter],
  ['Another transport, for testing', keys.enter],
  ['How does the bot process speech', keys.enter],
  ['Which speech-to-text service', `soniox${keys.enter}`],
  ['Which language model service', keys.enter],
  ['Which text-to-speech service', keys.enter],
  ['Features', keys.enter],
  ['Make this project', keys.enter],
];

/** The questions that only some answers raise. */
const otherSteps: typeof steps = [
  ...steps.slice(0, 4),
  ['Generate a web client', keys.enter],
  ['React with', keys.enter],
  ['How is the bot reached', keys.enter],
  ['Another transport, for testing', keys.enter],
  ['How does the bot process speech', keys.down + keys.enter],
  ['Which service?', keys.enter],
  ['Features', keys.down.repeat(6) + keys.space + keys.enter],
  ['Which video avatar service', keys.enter],
  ['Make this project', keys.enter],
];

/** A bot that is called; what is chosen last does not fit together at first. */
const callSteps: typeof steps = [
  ...steps.slice(0, 3),
  ['How do people talk to it', keys.down + keys.enter],
  // Of those that are called: by the carrier, then through a room.
  ['How is the bot reached', keys.down + keys.enter],
  ['Another transport, for testing', keys.down + keys.enter],
  ['How does the bot process speech', keys.enter],
  ['Which speech-to-text service', keys.enter],
  ['Which language model service', keys.enter],
  ['Which text-to-speech service', keys.enter],
  // No deployment, but noise taken out.
  ['Features', keys.space + keys.down.repeat(4) + keys.space + keys.enter],
  ['These answers do not work together', keys.enter],
  ['Features', keys.space + keys.enter],
  ['Make this project', keys.enter],
];

test('the wizard is answered on a terminal, and a long list is searched by typing', async () => {
  const terminal = start();
  for (const [shown, pressed] of steps) {
    await terminal.shows(shown);
    terminal.press(pressed);
  }
  const { status, shown } = await terminal.ended;
  expect({ status, shown }).toEqual({ status: 0, shown: expect.stringContaining('Files written') });
  // More questions than a signal takes listeners without a warning in the midst of them.
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

test('a bot that is called is made on a terminal, and answers that do not fit together can be mended', async () => {
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

test('going back proposes what was answered before, chosen and marked', async () => {
  const terminal = start();
  const [before, between] = [steps.slice(0, 9), steps.slice(10, 11)];
  const answers: typeof steps = [
    ...before,
    ['Which language model service', `to the question before${keys.enter}`],
    ['Which speech-to-text service', keys.enter],
    ['Which language model service', keys.enter],
    ...between,
    // The second of them beside the first, which is proposed; the last choice leads back.
    ['Features', keys.down + keys.space + keys.down.repeat(8) + keys.space + keys.enter],
    ['Which text-to-speech service', keys.enter],
    ['Features', keys.enter],
    ['Make this project', keys.down + keys.enter],
    ['Features', keys.enter],
    ['Make this project', keys.enter],
  ];
  for (const [shown, pressed] of answers) {
    await terminal.shows(shown);
    terminal.press(pressed);
  }
  expect((await terminal.ended).status).toBe(0);
  const { configuration } = JSON.parse(await readFile(join(directory, 'my-bot/.botcli/project.json'), 'utf8'));
  expect(configuration).toMatchObject({ stt_service: 'soniox_stt', deploy_to_cloud: true, enable_eval: true });
});

test('Ctrl-C at the offer to renew guides leaves them as they are', async () => {
  const guide = `# old\n\n<!-- botcli init 0.0.1 sha256:${'0'.repeat(64)} -->\n`;
  await writeFile(join(directory, 'AGENTS.md'), guide);
  const terminal = runInTerminal(`"${process.execPath}" "${join(program, 'bin/botcli.js')}" init .`, directory);
  await terminal.shows('How do you want to build');
  terminal.press(keys.enter);
  await terminal.shows('written by an older version');
  terminal.press(keys.ctrlC);
  expect((await terminal.ended).status).toBe(130);
  expect(await readdir(directory)).toEqual(['AGENTS.md']);
  expect(await readFile(join(directory, 'AGENTS.md'), 'utf8')).toBe(guide);
});

test('a home directory as shells write it is not taken for a name', async () => {
  const terminal = start();
  await terminal.shows('Directory of the project');
  terminal.press(`~/my-bot${keys.enter}`);
  await terminal.shows('in full');
  terminal.press(keys.ctrlC);
  expect((await terminal.ended).status).toBe(130);
  expect(await readdir(directory)).toEqual([]);
});

test('a search that finds nothing is no answer: what was proposed is not taken for it', async () => {
  const terminal = start();
  for (const [shown, pressed] of steps.slice(0, 8)) {
    await terminal.shows(shown);
    terminal.press(pressed);
  }
  await terminal.shows('Which speech-to-text service');
  terminal.press('zzzz');
  await terminal.shows('zzzz');
  terminal.press(keys.enter);
  await terminal.shows('Nothing in the list matches');
  terminal.press(keys.ctrlC);
  const { status, shown } = await terminal.ended;
  expect(status).toBe(130);
  expect(shown).not.toContain('Which language model service');
});

test.each([
  ...steps.map(([shown], index) => [shown, steps.slice(0, index)] as const),
  ...[5, 9, 11].map((index) => [otherSteps[index]?.[0] ?? '', otherSteps.slice(0, index)] as const),
  ...callSteps.flatMap(([shown], index) => (index < 4 ? [] : [[shown, callSteps.slice(0, index)] as const])),
])('Ctrl-C at "%s" writes nothing and says so', async (asked, before) => {
  const terminal = start();
  for (const [shown, pressed] of before) {
    await terminal.shows(shown);
    terminal.press(pressed);
  }
  await terminal.shows(asked);
  terminal.press(keys.ctrlC);
  const { status, shown } = await terminal.ended;
  expect(status).toBe(130);
  expect(shown.trimEnd()).toMatch(/Canceled\. Nothing was written\.$/);
  expect(shown).not.toContain('error:');
  expect(await readdir(directory)).toEqual([]);
});
