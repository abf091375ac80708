import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  formatArgumentValue,
  listEnvFileValueEncodings,
  sampleHostileValues,
} from '../packages/cli/test/hostile-values.ts';
import { runInTerminal, terminalKeys } from '../packages/cli/test/run-in-terminal.ts';
import { type BuiltService, botcliProgramPath, startBuiltService } from './service.ts';

/**
 * Passes secret values to the built botcli in every possible way, and checks that the environment of a running bot contains
 * exactly the same bytes. The bot reads its environment from /proc, because Node would decode it.
 */
let service: BuiltService;
let folder: string;
const expectedHashes = new Map<string, string>();

const bot = `
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
const found = {};
const environ = readFileSync('/proc/self/environ');
for (let start = 0; start < environ.length; ) {
  const end = environ.indexOf(0, start);
  const equals = environ.indexOf(61, start);
  const key = environ.subarray(start, equals).toString();
  if (key.startsWith('X_')) found[key] = createHash('sha256').update(environ.subarray(equals + 1, end)).digest('hex');
  start = end + 1;
}
let session;
createServer((request, response) => {
  if (request.url === '/bot') session = response;
  else response.end(JSON.stringify(found));
}).listen(Number(process.env.PORT), process.env.BOT_HOST);
`;

beforeAll(async () => {
  service = await startBuiltService();
  folder = join(service.folder, 'exact');
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{"name": "exact", "type": "module", "main": "bot.js"}');
  await writeFile(join(folder, 'bot.js'), bot);
  await writeFile(join(folder, 'deploy.toml'), 'agent_name = "exact"\nsecret_set = "exact"\n');
}, 180_000);
afterAll(() => service?.close());

const variables = () => ({ ...service.environment, BOTCLI_API_URL: service.origin, BOTCLI_TOKEN: service.privateKey });
const set = (...args: string[]) => [botcliProgramPath, 'cloud', 'secrets', 'set', 'exact', '--skip', '--wait', ...args];
const run = (args: readonly string[]) => promisify(execFile)(execPath, args, { cwd: folder, env: variables() });

async function runWithInput(args: readonly string[], input: string): Promise<void> {
  const child = spawn(execPath, args, { cwd: folder, env: variables(), stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.end(input);
  expect((await once(child, 'exit'))[0]).toBe(0);
}

const edges = [' blanks ', '\ttabs\t', '"in quotes"', 'a line\n', '\u{feff}a mark'];

/**
 * Creates `count` keys and values that a test passes to botcli in one form, for example in a JSON file. Each key contains the
 * name of the form. `fits` returns whether a value can be passed in this form.
 */
function createValues(
  form: string,
  count: number,
  fits: (value: string) => boolean,
): readonly (readonly [string, string])[] {
  const fitting = edges.filter(fits);
  const values = [...fitting, ...sampleHostileValues(count - fitting.length, 20_261_120 + form.length, fits)];
  return values.map((value, index) => {
    const key = `X_${form}_${index}`;
    expectedHashes.set(key, createHash('sha256').update(value, 'utf8').digest('hex'));
    return [key, value] as const;
  });
}

const isInFile = (value: string) => listEnvFileValueEncodings(value).length > 0;

function envFile(pairs: readonly (readonly [string, string])[]): string {
  const lines = pairs.map(([key, value], index) => {
    const forms = listEnvFileValueEncodings(value);
    return `${index % 3 === 0 ? 'export ' : ''}${key}=${forms[index % forms.length]}${index % 2 === 0 ? '\r\n' : '\n'}`;
  });
  return `\u{feff}# all kinds\n${lines.join('')}`;
}

it('botcli keeps every byte of a value in an argument of the form KEY=value', async () => {
  const pairs = createValues('argument', 45, (value) => formatArgumentValue(value) !== null);
  await run(set('--', ...pairs.map(([key, value]) => `${key}=${formatArgumentValue(value)}`)));
});

it('botcli keeps every byte of the values in an argument with several KEY=value pairs', async () => {
  const pairs = createValues('several', 30, (value) => !/["\\]/.test(value));
  const quoted = pairs.map(([key, value]) => `${key}="${value}"`);
  await run(set('--', ...[0, 10, 20].map((from) => quoted.slice(from, from + 10).join(' '))));
});

it('botcli keeps every byte of the values in an .env file', async () => {
  await writeFile(join(folder, '.env'), envFile(createValues('file', 50, isInFile)));
  await run(set('--file', '.env'));
});

it('botcli keeps every byte of the values in an .env file on standard input', () =>
  runWithInput(set('--file', '-'), envFile(createValues('input_file', 35, isInFile))));

it('botcli keeps every byte of the values in a JSON file', async () => {
  await writeFile(
    join(folder, 'values.json'),
    JSON.stringify(Object.fromEntries(createValues('json', 45, () => true)), null, 1),
  );
  await run(set('--file', 'values.json', '--format', 'json'));
});

it('botcli keeps every byte of a value that is the entire content of a file', async () => {
  const pairs = createValues('at_path', 25, () => true);
  await Promise.all(pairs.map(([key, value]) => writeFile(join(folder, `value ${key}`), value)));
  await run(set(...pairs.map(([key]) => `${key}=@value ${key}`)));
});

it('botcli keeps every byte of a value on standard input', async () => {
  for (const [key, value] of createValues('input', 8, () => true)) await runWithInput(set(`${key}=-`), value);
});

it('botcli keeps every byte of a value that is typed at a hidden prompt', async () => {
  const pairs = createValues('prompt', 12, (value) => !/(?!\t)\p{Cc}/u.test(value) && value.trim() !== '');
  // Remove the values that an earlier attempt of this test stored, because botcli asks for no confirmation if the values are
  // unchanged.
  await run([
    botcliProgramPath,
    'cloud',
    'secrets',
    'unset',
    'exact',
    '--if-exists',
    '--skip',
    ...pairs.map(([key]) => key),
  ]);
  const environment = Object.entries(variables()).map(([name, value]) => `${name}='${value}'`);
  const words = [
    execPath,
    botcliProgramPath,
    'cloud',
    'secrets',
    'set',
    'exact',
    '--wait',
    ...pairs.map(([key]) => key),
  ];
  const terminal = runInTerminal(`env ${environment.join(' ')} ${words.join(' ')}`, folder);
  for (const [key, value] of pairs) {
    await terminal.shows(`Value of ${key} (not shown): `);
    terminal.press(value + terminalKeys.enter);
  }
  await terminal.shows('Change the secret set exact?');
  terminal.press('y');
  const { status, shown } = await terminal.ended;
  expect(status).toBe(0);
  for (const [, value] of pairs.filter(([, value]) => value.length > 4)) expect(shown).not.toContain(value);
}, 60_000);

it('the environment of a running bot contains the exact bytes of all values', async () => {
  await run([botcliProgramPath, 'cloud', 'deploy', '--yes']);
  const headers = { authorization: `Bearer ${service.publicKey}` };
  const start = await fetch(`${service.origin}/v1/public/exact/start`, { method: 'POST', headers });
  const { sessionId } = (await start.json()) as { sessionId: string };
  const answer = await fetch(`${service.origin}/v1/public/exact/sessions/${sessionId}/found`, { headers });
  const found = (await answer.json()) as Record<string, string>;
  expect(expectedHashes.size).toBe(250);
  expect(found).toEqual(Object.fromEntries(expectedHashes));
}, 60_000);

it('botcli refuses ambiguous input with a message that names its position, and stores nothing', async () => {
  const ambiguous = sampleHostileValues(20, 7, (value) => /(?![\t\n\r])\p{Cc}/u.test(value));
  await writeFile(
    join(folder, 'bad'),
    ambiguous.map((value, index) => `X_bad_${index}="${value.replaceAll('"', '')}"\n`).join(''),
  );
  await expect(run(set('--file', 'bad'))).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^ {2}bad:\d+: /m),
  });
  await expect(run(set('X_bad="x Y=1'))).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('argument 1: '),
  });
  const { stdout } = await run([botcliProgramPath, 'cloud', 'secrets', 'list', 'exact']);
  expect(stdout).not.toContain('X_bad');
});
