import { appendFile, copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, inject, it, vi } from 'vitest';
import { visitByEvalTransport } from '../packages/cli/test/generated-bots/eval-visit.ts';
import { runPipecatEvaluation } from '../packages/cli/test/generated-bots/evaluate.ts';
import { type GeneratedProject, setUpProject } from '../packages/cli/test/generated-bots/generated-project.ts';
import { phoneBotOptions } from '../packages/cli/test/generated-bots/phone-bot.ts';
import { receiveGreeting } from '../packages/cli/test/generated-bots/phone-call.ts';
import { listReachedVendors } from '../packages/cli/test/generated-bots/reached-vendors.ts';
import { pitchHertz } from '../packages/cli/test/stand-in-vendors/cartesia.ts';
import { fixedTranscript } from '../packages/cli/test/stand-in-vendors/deepgram.ts';
import { startStandInVendors } from '../packages/cli/test/stand-in-vendors/stand-in-vendors.ts';
import type { Operations, ResponseOf } from '../packages/contract/src/index.ts';
import { readConfig } from '../packages/server/src/config.ts';
import { startBuiltService } from './built-service.ts';
import { openTerminal } from './transcript.ts';

/** Deploys a generated telephone bot to the built service with the commands in its README. */
const hook = fileURLToPath(new URL('../packages/cli/test/stand-in-vendors/reach_stand_ins.py', import.meta.url));

const standIns = await startStandInVendors();
const project = await setUpProject(phoneBotOptions, ['evals']);
const { inherited, secrets } = readConfig();
const service = await startBuiltService({ PATH: `${inject('uvFolder')}:${inherited.path}`, ...secrets.buildVariables });
const { environment, folder, origin } = service;
const terminal = openTerminal(folder, origin, environment);
const socketOf = (path: string) => origin.replace('http', 'ws') + path;
const commands = (text: string) => terminal.follow({ kind: 'commands', text, printed: null });
await keep(await valuesOf(project));
await deploy();
afterAll(async () => {
  await service?.close();
  await project?.remove();
  await standIns?.close();
});

/** The values of the project's secret set: the variables in its `.env`, and the address of the stand-in for OpenAI. */
async function valuesOf({ directory }: GeneratedProject): Promise<Record<string, string>> {
  const env = await readFile(join(directory, '.env'), 'utf8');
  const pairs = [...env.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]);
  return {
    ...Object.fromEntries(pairs),
    OPENAI_BASE_URL: `http://${standIns.address}/v1`,
    STAND_INS: standIns.address,
  };
}

/** Stores values in the secret set that the project's `deploy.toml` names. */
async function keep(values: Readonly<Record<string, string>>): Promise<void> {
  const response = await fetch(`${service.origin}/v1/secrets/phone-secrets`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${service.privateKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      secrets: Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue })),
    }),
  });
  expect(response.status, await response.text()).toBe(202);
  await vi.waitUntil(async () => (await service.ask('secrets/phone-secrets'))['status'] === 'ready', {
    timeout: 20_000,
  });
}

/**
 * Deploys the project so that its bots use the stand-in vendors. PIPECAT_SETUP_FILES must name a Python file that Pipecat runs
 * in every bot, but secrets cannot set this variable. So the first deploy only creates the Python environment, and a `.pth`
 * file in this environment then sets the variable. The second deploy uses this environment for the unchanged generated project.
 */
async function deploy(): Promise<void> {
  const bot = join(project.directory, 'bot.py');
  const generated = await readFile(bot, 'utf8');
  await appendFile(bot, '# only to make the environment\n');
  const first = await commands(`cd ${project.directory} && botcli cloud deploy --yes`);
  expect(first).toContain('> uv sync --frozen');
  await writeFile(bot, generated);
  const readable = join(project.directory, '../reach_stand_ins.py');
  await copyFile(hook, readable);
  const environments = join(service.folder, 'data/environments');
  const places = (await readdir(environments, { recursive: true })).filter((path) =>
    /\/lib\/[^/]+\/site-packages$/.test(path),
  );
  expect(places).toHaveLength(1);
  const line = `import os; os.environ["PIPECAT_SETUP_FILES"] = ${JSON.stringify(readable)}\n`;
  await writeFile(join(environments, places[0] ?? '', 'stand-ins.pth'), line);
  expect(await commands('botcli cloud deploy --yes')).toContain('with the environment of an earlier deployment');
}

it('a deployed telephone bot greets a caller through the service', async () => {
  const url = socketOf('/ws/twilio');
  const heard = await receiveGreeting(url, { _pipecatCloudServiceHost: 'phone.home', from_number: '+15550001' });
  expect(heard.pitch).toBeCloseTo(pitchHertz, -1.5);
  expect(listReachedVendors(standIns)).toEqual(['cartesia', 'deepgram', 'openai']);
});

it('a deployed telephone bot passes the evaluation scenarios of its project over a WebSocket of the service', async () => {
  const url = socketOf('/ws/generic/phone.home');
  const { status, output, errors } = await runPipecatEvaluation(project, url, standIns);
  process.stdout.write(output);
  expect(status, output + errors).toBe(0);
});

it('a forked telephone bot with metrics off records its conversation, and its client gets no metrics', async () => {
  const metrics = 's/enable_metrics=True, enable_usage_metrics=True//';
  const printed = await commands(
    `sed -i '${metrics}' bot.py && botcli cloud deploy --yes --conversation-level transcript`,
  );
  expect(printed).toContain('with the environment of an earlier deployment');
  expect(await readFile(join(project.directory, 'bot.py'), 'utf8')).toContain('PipelineParams()');
  const listSessions = async () =>
    (await service.ask('agents/phone/sessions'))['sessions'] as readonly { sessionId: string }[];
  const visit = async () => {
    const known = new Set((await listSessions()).map(({ sessionId }) => sessionId));
    const kinds = await visitByEvalTransport(socketOf('/ws/generic/phone.home'), fixedTranscript);
    const [session, ...others] = (await listSessions()).filter(({ sessionId }) => !known.has(sessionId));
    expect(others).toEqual([]);
    return { kinds, path: `agents/phone/sessions/${session?.sessionId}/conversation` };
  };
  await visit();
  // The fork server of the deployment has now imported the bot, so the next instance is forked.
  const startMethod = async () => (await service.ask('agents/phone'))['startMethod'];
  await expect.poll(startMethod).toMatchObject({ level: 'module', reason: null });
  await expect.poll(async () => (await service.ask('agents/phone'))['activeSessionCount']).toBe(0);
  const { kinds, path } = await visit();
  expect(kinds).toContain('bot-ready');
  expect(kinds).not.toContain('metrics');
  await expect.poll(async () => (await service.ask(path))['state']).toBe('complete');
  const { lines, numbers } = (await service.ask(path)) as Pick<
    ResponseOf<Operations['getSessionConversation']>,
    'lines' | 'numbers'
  >;
  const said = lines.flatMap((line) =>
    line.kind === 'said' && line.to !== null ? [`${line.side}: ${line.text}`] : [],
  );
  expect(said).toEqual([
    'bot: Hello, I am a stand-in. I am here to help.',
    `user: ${fixedTranscript}`,
    'bot: The capital of France is Paris.',
  ]);
  expect(numbers).toMatchObject({ turns: 1, interruptions: 0, errors: 0, endReason: 'client-disconnected' });
  expect(numbers?.usage.map(({ role }) => role)).toEqual(expect.arrayContaining(['llm', 'tts']));
});

it('a deployed telephone bot accepts one call per token if tokens are required', async () => {
  await commands("sed -i '/websocket_auth/d' deploy.toml && botcli cloud deploy --yes");
  const plain = receiveGreeting(socketOf('/ws/twilio'), { _pipecatCloudServiceHost: 'phone.home' });
  await expect(plain).rejects.toThrow('code 1008');
  const token = async () => {
    const response = await fetch(`${service.origin}/v1/public/phone/start`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.publicKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ transport: 'websocket' }),
    });
    return ((await response.json()) as { token: string }).token;
  };
  const heard = await receiveGreeting(socketOf(`/ws/twilio/phone.home/${await token()}`), {});
  expect(heard.pitch).toBeCloseTo(pitchHertz, -1.5);
  const url = socketOf(`/ws/generic/phone.home/${await token()}`);
  const first = (scenarios: string) => scenarios.slice(0, scenarios.indexOf('  - name: question'));
  const { status, output, errors } = await runPipecatEvaluation(project, url, standIns, first);
  expect(status, output + errors).toBe(0);
});
