import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { buildBotcli } from '../build-botcli.ts';
import { runInTerminal, terminalKeys } from '../run-in-terminal.ts';

let directory: string;
const program = await buildBotcli();
afterAll(() => rm(program, { recursive: true, force: true }));
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'botcli-terminal-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const start = () => runInTerminal(`"${process.execPath}" "${join(program, 'bin/botcli.js')}" init`, directory);

/** Texts on the terminal, each with the keys to press when it appears. Most answers are the defaults. */
const steps: readonly (readonly [shown: string, pressed: string])[] = [
  ['Directory of the project', `my-bot${terminalKeys.enter}`],
  ['How do you want to build', terminalKeys.down + terminalKeys.enter],
  ['Name of the project', terminalKeys.enter],
  ['How do people talk to the bot', terminalKeys.enter],
  ['Generate a web client', terminalKeys.down + terminalKeys.down + terminalKeys.enter],
  ['Which transport?', terminalKeys.enter],
  ['Another transport, for testing', terminalKeys.enter],
  ['How does the bot process speech', terminalKeys.enter],
  ['Which speech-to-text service', `soniox${terminalKeys.enter}`],
  ['Which language model service', terminalKeys.enter],
  ['Which text-to-speech service', terminalKeys.enter],
  ['Features (Space selects', terminalKeys.enter],
  ['Create this project', terminalKeys.enter],
];

/** Answers that create a phone bot. The first selection of features is invalid, and the last steps correct the selection. */
const callSteps: typeof steps = [
  ...steps.slice(0, 3),
  ['How do people talk to the bot', terminalKeys.down + terminalKeys.enter],
  // At the next two questions, press Down and Enter to select the second choice: first another phone transport, then Daily as
  // the additional transport for testing.
  ['Which transport?', terminalKeys.down + terminalKeys.enter],
  ['Another transport, for testing', terminalKeys.down + terminalKeys.enter],
  ['How does the bot process speech', terminalKeys.enter],
  ['Which speech-to-text service', terminalKeys.enter],
  ['Which language model service', terminalKeys.enter],
  ['Which text-to-speech service', terminalKeys.enter],
  // Select noise cancellation, and deselect the preselected feature "deploy_to_cloud", which noise cancellation requires.
  [
    'Features (Space selects',
    terminalKeys.space + terminalKeys.down.repeat(4) + terminalKeys.space + terminalKeys.enter,
  ],
  ['These answers do not work together', terminalKeys.enter],
  ['Features (Space selects', terminalKeys.space + terminalKeys.enter],
  ['Create this project', terminalKeys.enter],
];

test('the wizard creates a project, and finds an entry of a long list by the typed text', async () => {
  const terminal = start();
  for (const [shown, pressed] of steps) {
    await terminal.shows(shown);
    terminal.press(pressed);
  }
  const { status, shown } = await terminal.ended;
  expect({ status, shown }).toEqual({ status: 0, shown: expect.stringContaining('Files written') });
  // Node warns about leaked listeners if every question adds a listener to the same abort signal.
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
    ['Which language model service', `return to the previous question${terminalKeys.enter}`],
    ['Which speech-to-text service', terminalKeys.enter],
    ['Which language model service', terminalKeys.enter],
    ...between,
    // Select the second feature and the last entry of the list, which returns to the previous question.
    [
      'Features (Space selects',
      terminalKeys.down + terminalKeys.space + terminalKeys.down.repeat(8) + terminalKeys.space + terminalKeys.enter,
    ],
    ['Which text-to-speech service', terminalKeys.enter],
    ['Features (Space selects', terminalKeys.enter],
    ['Create this project', terminalKeys.down + terminalKeys.enter],
    ['Features (Space selects', terminalKeys.enter],
    ['Create this project', terminalKeys.enter],
  ];
  for (const [shown, pressed] of answers) {
    await terminal.shows(shown);
    terminal.press(pressed);
  }
  expect((await terminal.ended).status).toBe(0);
  const { configuration } = JSON.parse(await readFile(join(directory, 'my-bot/.botcli/project.json'), 'utf8'));
  expect(configuration).toMatchObject({ stt_service: 'soniox_stt', deploy_to_cloud: true, enable_eval: true });
});

test('Ctrl-C at the question whether to replace an outdated AGENTS.md keeps the file', async () => {
  const guide = `# old\n\n<!-- botcli init 0.0.1 sha256:${'0'.repeat(64)} -->\n`;
  await writeFile(join(directory, 'AGENTS.md'), guide);
  const terminal = runInTerminal(`"${process.execPath}" "${join(program, 'bin/botcli.js')}" init .`, directory);
  await terminal.shows('How do you want to build');
  terminal.press(terminalKeys.down + terminalKeys.down + terminalKeys.enter);
  await terminal.shows('written by an older version');
  terminal.press(terminalKeys.ctrlC);
  expect((await terminal.ended).status).toBe(130);
  expect(await readdir(directory)).toEqual(['AGENTS.md']);
  expect(await readFile(join(directory, 'AGENTS.md'), 'utf8')).toBe(guide);
});

test('the wizard refuses a directory that starts with ~', async () => {
  const terminal = start();
  await terminal.shows('Directory of the project');
  terminal.press(`~/my-bot${terminalKeys.enter}`);
  await terminal.shows('in full');
  terminal.press(terminalKeys.ctrlC);
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
  terminal.press(terminalKeys.enter);
  await terminal.shows('No choice matches the search');
  terminal.press(terminalKeys.ctrlC);
  const { status, shown } = await terminal.ended;
  expect(status).toBe(130);
  expect(shown).not.toContain('Which language model service');
});

// One question of each kind: a text, a choice, a list with a search, several choices, and a correction.
test.each([
  ...[0, 1, 8, 11].map((index) => [steps[index]?.[0] ?? '', steps.slice(0, index)] as const),
  [callSteps[11]?.[0] ?? '', callSteps.slice(0, 11)] as const,
])('Ctrl-C at the question "%s" cancels and writes nothing', async (asked, before) => {
  const terminal = start();
  for (const [shown, pressed] of before) {
    await terminal.shows(shown);
    terminal.press(pressed);
  }
  await terminal.shows(asked);
  terminal.press(terminalKeys.ctrlC);
  const { status, shown } = await terminal.ended;
  expect({ status, shown }).toEqual({ status: 130, shown: expect.stringContaining('Canceled. Nothing was written.') });
  expect(shown).not.toContain('error:');
  expect(await readdir(directory)).toEqual([]);
});
