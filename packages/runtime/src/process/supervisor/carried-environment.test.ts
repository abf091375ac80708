import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { secretKeyPattern, secretSetSize, secretValueBytes } from '@bothost/contract';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Carrier, carryEnvironment, findCarriers, passesShell } from './carried-environment.ts';
import { readExitFile, startSupervisor } from './supervisor.ts';

/** Says what it was given, value by value as a hash, and how it takes signals. */
const BOT = `
const { readFileSync, writeFileSync } = require('node:fs');
const { createHash } = require('node:crypto');
const bytes = readFileSync('/proc/self/environ');
const variables = [];
for (let from = 0; from < bytes.length; ) {
  const end = bytes.indexOf(0, from);
  const is = bytes.indexOf(61, from);
  variables.push([bytes.toString('latin1', from, is), createHash('sha256').update(bytes.subarray(is + 1, end)).digest('hex')]);
  from = end + 1;
}
const seen = variables.map(([name]) => [name, createHash('sha256').update(String(process.env[name])).digest('hex')]);
const ignored = /SigIgn:\\s*(\\w+)/.exec(readFileSync('/proc/self/status', 'latin1'))[1];
writeFileSync('seen', JSON.stringify({ variables, seen, ignored }));
`;

type Seen = {
  readonly variables: readonly (readonly [string, string])[];
  readonly seen: readonly (readonly [string, string])[];
  readonly ignored: string;
};

async function run(environment: Readonly<Record<string, string>>, carriers?: readonly Carrier[]) {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-carried-'));
  try {
    const supervisor = await startSupervisor({
      command: [process.execPath, '-e', BOT],
      directory,
      environment,
      account: null,
      exitPath: join(directory, 'exit'),
      outputPath: join(directory, 'output'),
      processLimit: 0,
      ...(carriers === undefined ? {} : { carriers }),
    });
    const cmdline = await readFile(`/proc/${supervisor.pid}/cmdline`, 'utf8');
    const closed = once(supervisor.child, 'close');
    supervisor.go();
    await closed;
    const output = await readFile(join(directory, 'output'), 'utf8');
    expect({ exit: readExitFile(join(directory, 'exit')), output }).toEqual({
      exit: { state: 'exited', code: 0, signal: null },
      output: '',
    });
    const seen: Seen = JSON.parse(await readFile(join(directory, 'seen'), 'utf8'));
    return { ...seen, cmdline };
  } finally {
    await rm(directory, { recursive: true });
  }
}

const hash = (value: string): string => createHash('sha256').update(value, 'utf8').digest('hex');

/** Of both what the kernel keeps and what the bot's language makes of it, only those that were given. */
async function hashesOf(environment: Readonly<Record<string, string>>, carriers?: readonly Carrier[]) {
  const { variables, seen } = await run(environment, carriers);
  const given = new Set(Object.keys(environment));
  const only = (list: Seen['variables']) => new Map(list.filter(([name]) => given.has(name)));
  return { kernel: only(variables), language: only(seen), count: variables.filter(([name]) => given.has(name)).length };
}

async function expectExact(environment: Readonly<Record<string, string>>, carriers?: readonly Carrier[]) {
  const wanted = new Map(Object.entries(environment).map(([name, value]) => [name, hash(value)]));
  const { kernel, language, count } = await hashesOf(environment, carriers);
  const differing = (got: ReadonlyMap<string, string>) =>
    [...wanted].flatMap(([name, value]) => (got.get(name) === value ? [] : [[name, environment[name]?.slice(0, 80)]]));
  expect(differing(kernel)).toEqual([]);
  // Node.js does not find a variable whose name is a number, as it takes it for an index.
  expect(differing(language).filter(([key = '']) => !/^\d+$/.test(key))).toEqual([]);
  expect(count).toBe(wanted.size);
}

const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');
const hostile = [
  printable,
  Array.from({ length: 31 }, (_, index) => String.fromCharCode(1 + index)).join(''),
  '\n',
  '\r\n',
  ' leading',
  'trailing \t\n',
  '\n\n a \n\n',
  '$(touch seen)',
  '`touch seen`',
  '$\x7bHOME}',
  '$HOME $$ $1 $@ $*',
  "'",
  '"',
  '\'"\'"',
  '\\',
  '\\n\\0\\x00\\u0000\\',
  '%00%s%n',
  'A=B=C',
  '=',
  '#x',
  '() { :;}; echo shellshock',
  '-n',
  '*',
  '~',
  '😀👩‍👩‍👧‍👦',
  '\uFEFFb\u00e9\u0301\u202e',
  '\u{10FFFF}\uFFFE',
  '-----BEGIN PRIVATE KEY-----\r\nAAAA\r\n-----END PRIVATE KEY-----\r\n',
  '{"type": "service_account", "private_key": "a\\nb"}',
];

const value = fc.oneof(
  fc.constantFrom(...hostile),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).map((text) => text.replaceAll('\0', '.')),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
  fc.array(fc.constantFrom(...hostile, ...printable), { minLength: 1, maxLength: 12 }).map((parts) => parts.join('')),
);
/** Names that shells, interpreters and loaders mean something by. */
const owned = [
  ...['_', 'PWD', 'OLDPWD', 'IFS', 'OPTIND', 'OPTARG', 'OPTERR', 'PPID', 'SHLVL', 'LINENO', 'PS1', 'PS2', 'PS4', 'ENV'],
  ...['UID', 'EUID', 'SHELLOPTS', 'BASHOPTS', 'BASH', 'BASH_ENV', 'RANDOM', 'SECONDS', 'HOSTNAME', 'TMOUT', 'MAIL'],
  ...['POSIXLY_CORRECT', 'CDPATH', 'LC_CTYPE', 'PERL5OPT', 'PERL5LIB', 'PERL5DB', 'PERL_UNICODE', 'PERLIO'],
  ...[
    'PYTHONHOME',
    'PYTHONSTARTUP',
    'PYTHONINSPECT',
    'go',
    'status',
    'command',
    '__proto__',
    'constructor',
    'toString',
  ],
  ...['1', '-', '--', '-x', '1A', 'a-b', '__', 'A-', 'env', 'x'.repeat(64), 'LD_LIBRARY_PATH'],
];
/** With any value but their own the test's own program would not run. */
const unsafeForNode = /^(LC_(ALL|MESSAGES)$|GLIBC_TUNABLES$|MALLOC_|NODE_|SSL_|OPENSSL_|UV_|LD_PRELOAD$|LD_AUDIT$)/;
const name = fc
  .oneof(
    { weight: 1, arbitrary: fc.constantFrom(...owned) },
    { weight: 6, arbitrary: fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/) },
  )
  .filter((text) => secretKeyPattern.test(text) && !unsafeForNode.test(text));
const shellName = fc
  .stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/)
  .filter((text) => passesShell(text) && !unsafeForNode.test(text));

function environments(names: fc.Arbitrary<string>, keys: number) {
  return fc
    .uniqueArray(fc.tuple(names, value), { minLength: keys, maxLength: keys, selector: ([key]) => key })
    .map((pairs) => Object.fromEntries(pairs));
}

const keys = secretSetSize.keys;
const [perl, python] = ['perl', 'python3'].map((program) => findCarriers().find(([path]) => path?.endsWith(program)));

describe('what a supervisor gives to its command', () => {
  it.each([
    ['names that any shell knows, through the shell alone', shellName, [] as readonly Carrier[]],
    ['any name, as this machine can', name, undefined],
  ])(
    'is byte by byte what was meant: %s',
    async (_, names, carriers) => {
      let cases = 0;
      const check = async (environment: Record<string, string>) => {
        cases += Object.keys(environment).length;
        await expectExact(environment, carriers);
      };
      await fc.assert(fc.asyncProperty(environments(names, keys), check), { numRuns: 22, endOnFailure: true });
      expect(cases).toBeGreaterThan(5_500);
    },
    120_000,
  );

  it.each([
    ['perl', perl],
    ['python3', python],
  ])(
    'is byte by byte what was meant, when %s carries it',
    async (_, carrier) => {
      if (carrier === undefined) return;
      const check = (environment: Record<string, string>) => expectExact({ ...environment, 'a-b': 'c' }, [carrier]);
      await fc.assert(fc.asyncProperty(environments(name, keys), check), { numRuns: 3, endOnFailure: true });
    },
    120_000,
  );

  it('is a whole set of the largest size, with values of the largest size', async () => {
    const many = secretSetSize.bytes / secretValueBytes - 1;
    const large = Array.from({ length: many }, (_, index) => [`K${index}`, `${index}\n`.repeat(secretValueBytes / 3)]);
    const environment = Object.fromEntries(large);
    await expectExact(environment);
    await expectExact({ ...environment, 'a-b': "'".repeat(secretValueBytes) });
  });

  it('leaves no value in an argument, and takes signals as any program does', async () => {
    const plain = await run({ CANARY: 'canary-8241' }, []);
    for (const carrier of [perl, python]) {
      if (carrier === undefined) continue;
      const carried = await run({ 'a-b': 'canary-8241', PORT: '1' }, [carrier]);
      expect(carried.cmdline).not.toMatch(/canary-8241|a-b/);
      expect(carried.ignored).toBe(plain.ignored);
      const names = carried.variables.map(([key]) => key).filter((key) => key !== 'PWD');
      expect(names.sort()).toEqual(['PORT', 'a-b']);
    }
    expect(plain.cmdline).not.toContain('canary-8241');
  });

  it('is refused with a reason where nothing can carry it', async () => {
    const environment = { 'a-b': 'canary', OK: '1' };
    await expect(run(environment, [])).rejects.toThrow(/variable a-b .* perl nor python3/);
    expect(() => carryEnvironment(environment, [], [])).not.toThrow(/canary/);
    expect(carryEnvironment({ OK: '1' }, ['x'], [])).toEqual({ environment: { OK: '1' }, command: ['x'] });
  });

  it.each([
    ['/does/not/exist', 127],
    ['/etc/passwd', 126],
  ])('says as a shell does that %s cannot be run', async (command, code) => {
    for (const carrier of [perl, python]) {
      if (carrier === undefined) continue;
      const directory = await mkdtemp(join(tmpdir(), 'bothost-carried-'));
      onTestFinished(() => rm(directory, { recursive: true }));
      const exitPath = join(directory, 'exit');
      const outputPath = join(directory, 'output');
      const environment = { 'a-b': '1' };
      const options = {
        command: [command],
        directory,
        environment,
        account: null,
        exitPath,
        outputPath,
        processLimit: 0,
      };
      const supervisor = await startSupervisor({ ...options, carriers: [carrier] });
      const closed = once(supervisor.child, 'close');
      supervisor.go();
      await closed;
      expect(readExitFile(exitPath)).toEqual({ state: 'exited', code, signal: null });
      expect(await readFile(outputPath, 'utf8')).toMatch(new RegExp(`${command}: (No such file|Permission)`));
    }
  });
});
