import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { typeToParrot } from '../packages/server/test/support/type-to-parrot.ts';
import { type BuiltService, startBuiltService } from './built-service.ts';

/** Runs the first steps of the README, docs/sessions.md and docs/bots.md with the built service. */
const root = fileURLToPath(new URL('..', import.meta.url));
const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

let service: BuiltService;
let readme: string;
let sessions: string;
let bots: string;
let folder: string;

beforeAll(async () => {
  readme = await readFile(join(root, 'README.md'), 'utf8');
  sessions = await readFile(join(root, 'docs/sessions.md'), 'utf8');
  bots = await readFile(join(root, 'docs/bots.md'), 'utf8');
  folder = await mkdtemp(join(tmpdir(), 'documents-'));
  await saveBot(folder);
  service = await startBuiltService({ BOTHOST_AGENTS: `${join(root, 'examples/parrot')},${folder}` });
  // Install the botcli that the service serves, as the README describes it for users without root.
  const [install = ''] = blocks(readme, 'sh').filter((block) => block.startsWith('npm install -g '));
  await run(install.replaceAll('http://127.0.0.1:7420', service.origin).replace(' -g ', ` --prefix ${folder} -g `));
}, 120_000);
afterAll(async () => {
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Writes the files of the example bot in docs/bots.md to a directory. */
async function saveBot(place: string): Promise<void> {
  for (const [name, language] of [
    ['package.json', 'json'],
    ['bot.js', 'js'],
    ['deploy.toml', 'toml'],
  ] as const) {
    await writeFile(join(place, name), blocks(bots, language)[0] ?? '');
  }
}

function blocks(document: string, language: string): string[] {
  return [...document.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text = '']) => text);
}

/** Returns the shell commands in README.md and then docs/sessions.md, without installation commands. */
function commands(): string[] {
  return [...blocks(readme, 'sh'), ...blocks(sessions, 'sh')].filter((block) => !block.startsWith('npm '));
}

async function run(script: string): Promise<string> {
  const { PATH = '' } = service.environment;
  const options = { cwd: root, env: { ...service.environment, PATH: `${join(folder, 'bin')}:${PATH}` } };
  return (await promisify(execFile)('bash', ['-ec', script], options)).stdout;
}

function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shape);
  if (value === null || typeof value !== 'object') return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, shape(field)]));
}

describe('the first session in the README and docs/sessions.md', () => {
  it('can be shown as a conversation, started, used, stopped and listed with botcli and with curl', async () => {
    const [conversation = '', start = '', burn = '', look = '', ask = '', ...rest] = commands();
    expect(rest).toEqual([]);
    await typeToParrot(service, 'pretty bird');
    const transcript = [
      /\d+\tbot\t\d+\+\tHello! I am the parrot/,
      /\d+\tcaller\t\tpretty bird\n\d+\tbot\t\d+\*\tRraawk!/,
    ];
    for (const lines of transcript) await expect.poll(() => run(conversation), { timeout: 20_000 }).toMatch(lines);

    const sessionId = uuid.exec(await run(start))?.[0] ?? '';
    const filledIn = (text: string) =>
      text
        .replaceAll('SESSION_ID', sessionId)
        .replaceAll('http://127.0.0.1:7420', service.origin)
        .replace('"seconds": 15', '"seconds": 3');

    expect(JSON.parse(await run(filledIn(burn)))).toMatchObject({ cpuMillicores: 300, megabytes: 100 });
    const shown = await run(filledIn(look));
    expect(shown).toContain('terminated');
    expect(shown).toContain(sessionId);
    expect(shown).toMatch(/Memory/);

    await expect
      .poll(() => service.ask(`agents/parrot/sessions/${sessionId}`))
      .toMatchObject({
        completionStatus: 'SESSION_STOPPED',
      });
    const record = JSON.parse(await run(filledIn(ask))) as Record<string, unknown>;
    const example = JSON.parse(blocks(sessions, 'json')[0] ?? '{}') as Record<string, unknown>;
    expect(shape({ ...record, events: [] })).toEqual(shape({ ...example, events: [] }));
    expect(Object.keys(record)).toEqual(Object.keys(example));
  }, 60_000);

  it('provides a web page for talking to the sample bot at the documented path', async () => {
    const page = await fetch(`${service.origin}/talk/parrot`);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toContain('text/html');
  });
});

describe('the bot in docs/bots.md', () => {
  it('is kept warm as its deploy.toml requires, responds through the session proxy, and can be stopped', async () => {
    const headers = { authorization: `Bearer ${service.publicKey}` };
    const agent = () => service.ask('agents/greeter');
    await expect.poll(agent).toMatchObject({ ready: true, autoScaling: { minReplicas: 1 } });
    const started = await fetch(`${service.origin}/v1/public/greeter/start`, { method: 'POST', headers });
    const { sessionId } = (await started.json()) as { sessionId: string };
    const hello = await fetch(`${service.origin}/v1/public/greeter/sessions/${sessionId}/hello`, { headers });
    expect(await hello.json()).toEqual({ session: sessionId, seconds: expect.any(Number) });

    await service.ask(`agents/greeter/sessions/${sessionId}`, 'DELETE');
    const record = () => service.ask(`agents/greeter/sessions/${sessionId}`);
    await expect.poll(record).toMatchObject({ completionStatus: 'SESSION_STOPPED', events: [] });
  });

  it('cannot be reached on its control routes through the session proxy', async () => {
    const headers = { authorization: `Bearer ${service.publicKey}` };
    const started = await fetch(`${service.origin}/v1/public/greeter/start`, { method: 'POST', headers });
    const { sessionId } = (await started.json()) as { sessionId: string };
    const path = `${service.origin}/v1/public/greeter/sessions/${sessionId}`;
    expect((await fetch(`${path}/hello`, { headers })).status).toBe(200);
    expect((await fetch(`${path}/_bot/stop`, { method: 'POST', headers })).status).toBe(404);
    expect(await service.ask(`agents/greeter/sessions/${sessionId}`)).toMatchObject({ endedAt: null });
  });
});
