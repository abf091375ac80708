import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { transports, usesHostedRoomForCalls } from '../../src/scaffold/catalogue/transports.ts';
import type { ProjectOptions } from '../../src/scaffold/configuration/fields.ts';
import { createProjectPlan } from '../../src/scaffold/configuration/plan.ts';
import { resolveConfiguration } from '../../src/scaffold/configuration/resolve.ts';
import { generateProjectFiles } from '../../src/scaffold/project/project.ts';
import { listRequiredEnvironmentVariables } from '../../src/scaffold/project/variables.ts';
import { placeholderSecret } from '../generated-bots/generated-project.ts';
import { projectMatrix as matrix } from '../scaffold/project-matrix.ts';
import { runPipecatScript } from './ask-library.ts';
import { mostVendorsPackageGroup } from './package-groups.ts';
import { type PipecatEnvironment, preparePipecatEnvironment } from './pipecat-environment.ts';
import { computeExpectedSession, type ObservedSession } from './session-expectation.ts';
import { listSessions, type Session } from './sessions.ts';

/**
 * Runs sessions of generated bots with the real library, one for each transport and kind of start. The unchanged `bot(args)`
 * receives the events of the library. `session-expectation.ts` defines what each bot must do.
 */
const cascade: ProjectOptions = { mode: 'cascade', stt_service: 'deepgram_stt', llm_service: 'openai_llm' };
const spoken: ProjectOptions = { ...cascade, tts_service: 'cartesia_tts' };
const realtime: ProjectOptions = { mode: 'realtime', realtime_service: 'openai_realtime' };
const everything: ProjectOptions = {
  recording: true,
  transcription: true,
  enable_nc: true,
  enable_observability: true,
  enable_eval: true,
};
const each = transports.map(({ value }) => value);
const calls = transports.filter(usesHostedRoomForCalls).map(({ value }) => value);
const ways = ['hostedrtc', 'livekit', 'lightrtc', 'websocket'];
const chosen: readonly ProjectOptions[] = [
  ...each.flatMap((value) =>
    [spoken, { ...spoken, ...everything }, { ...realtime, ...everything }].map((mode) => ({
      ...mode,
      transports: [value],
    })),
  ),
  ...['lightrtc', 'carrier1'].flatMap((other) => calls.map((value) => ({ ...spoken, transports: [value, other] }))),
  ...calls.map((value) => ({ ...realtime, transports: [value, 'hostedrtc'] })),
  { ...spoken, transports: ['carrier1', 'lightrtc'] },
  { ...spoken, transports: ways, video_input: true, video_output: true, enable_eval: true },
  { ...spoken, transports: ['lightrtc'], video_input: true },
  { ...realtime, transports: ways, video_input: true, video_service: 'heygen_video' },
  { ...cascade, tts_service: 'minimax_tts', transports: ['hostedrtc_pstn_dialout', 'carrier1'] },
];

type Project = { readonly name: string; readonly given: ProjectOptions; readonly sessions: readonly Session[] };
const projects: readonly Project[] = chosen.map((given) => ({
  name: Object.entries(given)
    .flatMap(([key, value]) => (value === true ? key : value))
    .join(' '),
  given,
  sessions: listSessions(given),
}));

function botOf(given: ProjectOptions): { readonly text: string; readonly variables: Readonly<Record<string, string>> } {
  const { configuration, issues } = resolveConfiguration(given, 'demo');
  if (configuration === null) throw new Error(JSON.stringify(issues));
  const text = generateProjectFiles(configuration).find(({ path }) => path === 'server/bot.py')?.text ?? '';
  const names = listRequiredEnvironmentVariables(createProjectPlan(configuration));
  return { text, variables: Object.fromEntries(names.map((name) => [name, placeholderSecret])) };
}

let directory: string;
let environment: PipecatEnvironment;
let held: ReadonlyMap<string, readonly ObservedSession[]> = new Map();
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'botcli-sessions-'));
  environment = await preparePipecatEnvironment(mostVendorsPackageGroup);
  if (environment.kind === 'missing') {
    process.stdout.write(`not run: sessions of generated bots: ${environment.reason}\n`);
    return;
  }
  const asked = projects.map(async ({ name, given, sessions }, index) => {
    const { text, variables } = botOf(given);
    const file = join(directory, String(index), 'bot.py');
    await mkdir(join(directory, String(index)));
    await writeFile(file, text);
    return { name, file, variables, sessions };
  });
  type Found = { readonly name: string; readonly sessions: readonly ObservedSession[] };
  const found = await runPipecatScript<readonly Found[]>(environment, 'run_sessions.py', await Promise.all(asked));
  held = new Map(found.map(({ name, sessions }) => [name, sessions]));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test.for(projects.map((project) => [project.name, project] as const))('%s', ([name, { given, sessions }], { skip }) => {
  if (environment.kind === 'missing') return skip(environment.reason);
  expect(held.get(name)).toEqual(sessions.map((session) => computeExpectedSession(given, session)));
});

test('the bots tested here contain every event handler of the bots in project-matrix.ts', () => {
  const handlers = (text: string) =>
    [...text.matchAll(/@(\w+(?:\.\w+)?)\.event_handler\([^)]*\)\n(?:.+\n)+/g)].map(([block]) => block.trim());
  const tried = new Set(chosen.flatMap((given) => handlers(botOf(given).text)));
  expect(tried.size).toBeGreaterThan(0);
  const all = matrix.flatMap(([, configuration]) => {
    const bot = generateProjectFiles(configuration).find(({ path }) => path === 'server/bot.py');
    return handlers(bot?.text ?? '');
  });
  expect([...new Set(all)].filter((block) => !tried.has(block))).toEqual([]);
});
