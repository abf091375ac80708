import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { quickstart } from './quickstart.ts';
import { evaluate } from './testing/evaluate.ts';
import { type GeneratedProject, setUpProject } from './testing/generated-project.ts';
import { type LocalBot, startBot } from './testing/local-bot.ts';
import { ring } from './testing/phone-call.ts';
import { reached } from './testing/reached.ts';
import { pitch } from './testing/stand-ins/cartesia.ts';
import { openStandIns, type StandIns } from './testing/stand-ins/stand-ins.ts';

/** Generated bots, unchanged, under Pipecat's own runner; their vendors are stand-ins on this machine. */
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

async function start(project: GeneratedProject, where: 'documented' | 'anywhere' = 'anywhere'): Promise<LocalBot> {
  const bot = await startBot(project, where, leading());
  onTestFinished(async ({ task }) => {
    await bot.stop();
    if (task.result?.state === 'fail') process.stderr.write(bot.output());
  });
  return bot;
}

describe('a telephone bot with evaluations', () => {
  let project: GeneratedProject;
  beforeAll(async () => {
    const services = { stt_service: 'deepgram_stt', llm_service: 'openai_llm', tts_service: 'cartesia_tts' };
    const given = { transports: ['carrier1'], mode: 'cascade', ...services, enable_eval: true };
    project = await setUpProject(given, ['evals']);
  });
  afterAll(() => project?.remove());

  it('passes the conversations that came with it', async () => {
    const bot = await start(project);
    const { status, output, errors } = await evaluate(project, `ws://${bot.address}/ws`, standIns);
    process.stdout.write(output);
    expect(status, output + errors).toBe(0);
    expect(reached(standIns)).toEqual(['cartesia', 'deepgram', 'openai']);
  });

  it('fails a conversation that expects something else', async () => {
    const bot = await start(project);
    const { status, output } = await evaluate(project, `ws://${bot.address}/ws`, standIns, (scenarios) =>
      scenarios.replace('it is Paris', 'it is London'),
    );
    process.stdout.write(output);
    expect(status, output).toBe(1);
  });

  it('greets whoever rings, over a media stream of the carrier', async () => {
    const bot = await start(project);
    const heard = await ring(`ws://${bot.address}/ws`, { from_number: '+15550001' });
    expect(heard.pitch).toBeCloseTo(pitch, -1.5);
    expect(reached(standIns)).toEqual(['cartesia', 'deepgram', 'openai']);
    expect(bot.output()).toContain('Connected: +15550001');
    await expect.poll(() => standIns.visits.filter(({ open }) => open)).toEqual([]);
  });
});

describe('the quickstart', () => {
  let project: GeneratedProject;
  beforeAll(async () => {
    project = await setUpProject(quickstart.given, []);
  });
  afterAll(() => project?.remove());

  it('answers where its README says, and greets whoever comes over WebRTC', async () => {
    const bot = await start(project, 'documented');
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
    expect(reached(standIns)).toEqual(['cartesia', 'deepgram', 'openai-responses']);
  });
});
