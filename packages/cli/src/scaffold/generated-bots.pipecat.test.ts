import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest';
import { quickstart } from './quickstart.ts';
import {
  freePort,
  type GeneratedProject,
  type LocalBot,
  placeholder,
  setUpProject,
} from './testing/generated-project.ts';
import { ring } from './testing/phone-call.ts';
import { pitch } from './testing/stand-ins/cartesia.ts';
import { openStandIns, type StandIns } from './testing/stand-ins/stand-ins.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A directory that may stay between runs. */
    pythonCache: string;
    python: string | undefined;
    /** Variables that programs of this machine are run with. */
    surroundings: Readonly<Record<string, string | undefined>>;
  }
}

/** Generated bots, unchanged, under Pipecat's own runner; their vendors are stand-ins on this machine. */
const setting = { cache: inject('pythonCache'), python: inject('python'), surroundings: inject('surroundings') };
const testing = join(import.meta.dirname, 'testing');
let standIns: StandIns;
beforeEach(async () => {
  standIns = await openStandIns();
});
afterEach(() => standIns.close());

/** What leads a bot to the stand-ins. Its files know nothing of it. */
function leading(): Record<string, string> {
  return {
    OPENAI_BASE_URL: `http://${standIns.address}/v1`,
    PIPECAT_SETUP_FILES: join(testing, 'stand-ins/reach_stand_ins.py'),
    STAND_INS: standIns.address,
  };
}

async function start(project: GeneratedProject, port: number | null): Promise<LocalBot> {
  const bot = await project.startBot(port, leading());
  onTestFinished(async ({ task }) => {
    await bot.stop();
    if (task.result?.state === 'fail') process.stderr.write(bot.output());
  });
  return bot;
}

/** Each vendor was reached, with the key of the project's `.env`. */
function wereReached(...vendors: readonly string[]): void {
  const reached = standIns.visits.filter(({ key }) => key === placeholder).map(({ vendor }) => vendor);
  expect([...new Set(reached)].sort()).toEqual(vendors);
}

describe('a telephone bot with evaluations', () => {
  let project: GeneratedProject;
  beforeAll(async () => {
    const services = { stt_service: 'deepgram_stt', llm_service: 'openai_llm', tts_service: 'cartesia_tts' };
    const given = { transports: ['carrier1'], mode: 'cascade', ...services, enable_eval: true };
    project = await setUpProject(given, ['evals'], setting);
  });
  afterAll(() => project?.remove());

  /** Runs the project's own conversations in text, judged by the stand-in as their `factory` says. */
  async function evaluate(bot: LocalBot, change: (scenarios: string) => string) {
    const scenarios = await readFile(join(project.directory, 'evals/text.yaml'), 'utf8');
    const factory = 'judge:\n  modality: text\n  eval: {factory: judges.judge, model: stand-in-judge}\n';
    expect(scenarios).toContain('judge:\n  modality: text\n');
    const judged = scenarios.replace('judge:\n  modality: text\n', factory);
    await writeFile(join(project.directory, 'evals/judged.yaml'), change(judged));
    const command = ['pipecat', 'eval', 'run', 'evals/judged.yaml', '-v', '--bot-url', `ws://${bot.address}/ws`];
    return project.run(command, { ...leading(), PYTHONPATH: join(testing, 'stand-ins') });
  }

  it('passes the conversations that came with it', async () => {
    const bot = await start(project, await freePort());
    const { status, output, errors } = await evaluate(bot, (scenarios) => scenarios);
    process.stdout.write(output);
    expect(status, output + errors).toBe(0);
    wereReached('cartesia', 'deepgram', 'openai');
  });

  it('fails a conversation that expects something else', async () => {
    const bot = await start(project, await freePort());
    const { status, output } = await evaluate(bot, (scenarios) => scenarios.replace('it is Paris', 'it is London'));
    process.stdout.write(output);
    expect(status, output).toBe(1);
  });

  it('greets whoever rings, over a media stream of the carrier', async () => {
    const bot = await start(project, await freePort());
    const heard = await ring(`ws://${bot.address}/ws`, { from_number: '+15550001' });
    expect(heard.pitch).toBeCloseTo(pitch, -1.5);
    wereReached('cartesia', 'deepgram', 'openai');
    expect(bot.output()).toContain('Connected: +15550001');
    await expect.poll(() => standIns.visits.filter(({ open }) => open)).toEqual([]);
  });
});

describe('the quickstart', () => {
  let project: GeneratedProject;
  beforeAll(async () => {
    project = await setUpProject(quickstart.given, [], setting);
  });
  afterAll(() => project?.remove());

  it('answers where its README says, and greets whoever comes over WebRTC', async () => {
    const bot = await start(project, null);
    const readme = await readFile(join(project.directory, '../README.md'), 'utf8');
    expect(readme).toContain(`Open http://${bot.address} `);
    const page = await fetch(`http://${bot.address}`);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('<html');
    const { status, output, errors } = await project.run([
      'python',
      join(testing, 'webrtc_call.py'),
      `http://${bot.address}/api/offer`,
    ]);
    expect(status, errors).toBe(0);
    const heard: { pitch: number; messages: string[] } = JSON.parse(output);
    expect(heard.pitch).toBeCloseTo(pitch, -1.5);
    expect(heard.messages).toContain('bot-ready');
    wereReached('cartesia', 'deepgram', 'openai-responses');
  });
});
