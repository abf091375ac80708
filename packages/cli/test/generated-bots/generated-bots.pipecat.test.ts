import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { quickstartProject } from '../../src/scaffold/quickstart.ts';
import { pitchHertz } from '../stand-in-vendors/cartesia.ts';
import { fixedTranscript } from '../stand-in-vendors/deepgram.ts';
import { type StandInVendors, startStandInVendors } from '../stand-in-vendors/stand-in-vendors.ts';
import { runPipecatEvaluation, runPipecatJudge } from './evaluate.ts';
import { exportConversation } from './export-conversation.ts';
import { type GeneratedProject, placeholderSecret, setUpProject } from './generated-project.ts';
import { type RunningGeneratedBot, startBot } from './local-bot.ts';
import { phoneBotOptions, phoneBotServices } from './phone-bot.ts';
import { callBot } from './phone-call.ts';
import { listReachedVendors } from './reached-vendors.ts';
import { signRequest, startWebhook } from './webhook.ts';

/**
 * Runs unchanged generated bots with Pipecat's development runner. The bots use stand-in vendors: local servers with the
 * protocols of the real vendors.
 */
let standIns: StandInVendors;
beforeEach(async () => {
  standIns = await startStandInVendors();
});
afterEach(() => standIns.close());

/** Returns the environment variables that connect a bot to the stand-in vendors instead of the real ones. */
function leading(): Record<string, string> {
  return {
    OPENAI_BASE_URL: `http://${standIns.address}/v1`,
    PIPECAT_SETUP_FILES: join(import.meta.dirname, '../stand-in-vendors/reach_stand_ins.py'),
    STAND_INS: standIns.address,
  };
}

async function start(
  project: GeneratedProject,
  where: 'documented' | 'anywhere' = 'anywhere',
): Promise<RunningGeneratedBot> {
  const bot = await startBot(project, where, leading());
  onTestFinished(async ({ task }) => {
    await bot.stop();
    if (task.result?.state === 'fail') process.stderr.write(bot.output());
  });
  return bot;
}

describe('a generated telephone bot with evaluation scenarios', () => {
  let project: GeneratedProject;
  beforeAll(async () => {
    project = await setUpProject(phoneBotOptions, ['evals']);
  });
  afterAll(() => project?.remove());

  it('passes the scenarios that were generated for it', async () => {
    const bot = await start(project);
    const { status, output, errors } = await runPipecatEvaluation(project, `ws://${bot.address}/ws`, standIns);
    process.stdout.write(output);
    expect(status, output + errors).toBe(0);
    expect(listReachedVendors(standIns)).toEqual(['cartesia', 'deepgram', 'openai']);
  });

  it.each([
    ['passes', 'calls find_capital and says that it is Paris', 0],
    ['fails', 'calls find_capital and says that it is London', 1],
  ])(
    '%s "pipecat eval judge" with a conversation that botcli exports, if it must be one in which the bot %s',
    async (_verb, success, expected) => {
      const { status, output, errors } = await runPipecatJudge(
        project,
        await exportConversation(),
        `the bot ${success}`,
        standIns,
      );
      process.stdout.write(output);
      expect(status, output + errors).toBe(expected);
    },
  );

  it('fails an evaluation scenario that expects an answer other than the bot’s', async () => {
    const bot = await start(project);
    const { status, output } = await runPipecatEvaluation(project, `ws://${bot.address}/ws`, standIns, (scenarios) =>
      scenarios.replace('it is Paris', 'it is London'),
    );
    process.stdout.write(output);
    expect(status, output).toBe(1);
  });

  it('greets a caller over the media stream of a carrier, and answers a question', async () => {
    const bot = await start(project);
    const question = await project.run(['python', join(import.meta.dirname, 'say.py'), fixedTranscript]);
    expect(question.status, question.errors).toBe(0);
    const call = await callBot(`ws://${bot.address}/ws`, { from_number: '+15550001' });
    expect((await call.listen(2)).pitch).toBeCloseTo(pitchHertz, -1.5);
    expect(bot.output()).toContain('Connected: +15550001');
    const spokenText = () =>
      JSON.stringify(standIns.visits.flatMap(({ vendor, messages }) => (vendor === 'cartesia' ? messages : [])));
    expect(spokenText()).not.toContain('Paris');
    call.say(question.output);
    await expect.poll(spokenText).toContain('Paris');
    expect((await call.listen(1)).pitch).toBeCloseTo(pitchHertz, -1.5);
    await call.hangUp();
    expect(listReachedVendors(standIns)).toEqual(['cartesia', 'deepgram', 'openai']);
    await expect.poll(() => standIns.visits.filter(({ open }) => open)).toEqual([]);
  });
});

/** Calls the bot over WebRTC as a browser does. If `text` is given, says it after the greeting. */
async function visit(project: GeneratedProject, bot: RunningGeneratedBot, ...text: readonly string[]) {
  const command = ['python', join(import.meta.dirname, 'webrtc_call.py'), `http://${bot.address}/api/offer`, ...text];
  const { status, output, errors } = await project.run(command);
  expect(status, errors).toBe(0);
  const result: { seconds: number; pitch: number; messages: readonly string[] } = JSON.parse(output);
  expect(result.pitch).toBeCloseTo(pitchHertz, -1.5);
  expect(result.messages).toContain('bot-ready');
  return result;
}

describe('the quickstart bot', () => {
  let project: GeneratedProject;
  beforeAll(async () => {
    project = await setUpProject(quickstartProject.options, []);
  });
  afterAll(() => project?.remove());

  it('serves the page that its README names, and greets a WebRTC client', async () => {
    const bot = await start(project, 'documented');
    const readme = await readFile(join(project.directory, '../README.md'), 'utf8');
    expect(readme).toContain(`Open http://${bot.address} `);
    const page = await fetch(`http://${bot.address}`);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('<html');
    await visit(project, bot);
    expect(listReachedVendors(standIns)).toEqual(['cartesia', 'deepgram', 'openai-responses']);
  });
});

describe('a cascade bot with a camera', () => {
  let project: GeneratedProject;
  beforeAll(async () => {
    const given = { transports: ['lightrtc'], mode: 'cascade', ...phoneBotServices, video_input: true };
    project = await setUpProject(given, []);
  });
  afterAll(() => project?.remove());

  it('gets a camera frame only when its model requests one', async () => {
    const bot = await start(project);
    const pictures = () => standIns.visits.filter(({ messages }) => JSON.stringify(messages).includes('data:image/'));
    await visit(project, bot);
    expect(pictures()).toEqual([]);
    await visit(project, bot, 'What do you see?');
    expect(pictures()).toHaveLength(1);
    const spoken = standIns.visits.flatMap(({ vendor, messages }) => (vendor === 'cartesia' ? messages : []));
    expect(JSON.stringify(spoken)).toContain('I see a picture.');
  });
});

describe('the webhook server of a bot that takes phone calls in a hosted room', () => {
  let project: GeneratedProject;
  beforeAll(async () => {
    const given = { transports: ['carrier1_hostedrtc_sip_dialin'], mode: 'cascade', ...phoneBotServices };
    project = await setUpProject(given, []);
  });
  afterAll(() => project?.remove());

  it('starts a bot for a webhook request signed by the carrier, and refuses other requests', async () => {
    const starts: unknown[] = [];
    const service = createServer(async (request, response) => {
      starts.push(await json(request));
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(service, 'listening');
    const webhook = await startWebhook(project, service.address());
    onTestFinished(async () => {
      await webhook.stop();
      service.close();
    });
    const fields = { CallSid: 'CA1', From: '+15550001', CallToken: '' };
    const refused = [null, 'x', 'é', signRequest(`${webhook.url}/call`, fields, 'another token')];
    for (const one of refused) expect((await webhook.ring(fields, one)).status).toBe(403);
    const signed = signRequest('https://bot.example.com/call', fields, placeholderSecret);
    expect((await webhook.ring({ ...fields, From: '+15550002' }, signed, 'bot.example.com')).status).toBe(403);
    expect(starts).toEqual([]);
    const answer = await webhook.ring(fields, signed, 'bot.example.com');
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('<Pause');
    expect(starts).toEqual([expect.objectContaining({ body: { call_sid: 'CA1', from_number: '+15550001' } })]);
  });
});
