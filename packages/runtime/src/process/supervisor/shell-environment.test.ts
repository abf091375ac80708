import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { maxSecretValueBytes, secretSetKeyPattern, secretSetLimits } from '@bothost/contract';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { createTestDirectory } from '../../../test/test-directory.ts';
import { unixAccountForAccessChecks } from '../containment/isolation.ts';
import { passEnvironmentThroughShell } from './shell-environment.ts';
import { readExitStatusFile, startSupervisedCommand, startSupervisor } from './supervisor.ts';

/** A program that prints a hash of each of its variables and the mask of signals that it ignores. */
const printingBot = `
const { readFileSync, writeFileSync } = require('node:fs');
const { createHash } = require('node:crypto');
const hash = (bytes) => createHash('sha256').update(bytes).digest('hex');
const bytes = readFileSync('/proc/self/environ');
const variables = [];
for (let from = 0; from < bytes.length; ) {
  const end = bytes.indexOf(0, from);
  const equals = bytes.indexOf(61, from);
  variables.push([bytes.toString('latin1', from, equals), hash(bytes.subarray(equals + 1, end))]);
  from = end + 1;
}
const ignored = /SigIgn:\\s*(\\w+)/.exec(readFileSync('/proc/self/status', 'latin1'))[1];
writeFileSync('report', JSON.stringify({ variables, ignored }));
`;

type Report = { readonly variables: readonly (readonly [string, string])[]; readonly ignored: string };

/**
 * Whether the tests run as root. Only root can give a bot its own `/tmp`. The shell that starts such a bot reads the bot's
 * environment variables from standard input instead of inheriting them, so the tests then cover both methods.
 */
const isRoot = process.geteuid?.() === 0;
let hasPrivateTmp = false;

async function start(command: readonly string[], environment: Readonly<Record<string, string>>) {
  const directory = await createTestDirectory(0o777);
  const paths = { exitPath: join(directory, 'exit'), outputPath: join(directory, 'output') };
  const supervisor = await startSupervisor({
    ...paths,
    command,
    directory,
    environment,
    account: hasPrivateTmp ? unixAccountForAccessChecks : null,
    tmpDirectories: hasPrivateTmp ? { tmp: directory, varTmp: directory } : null,
    processLimit: 0,
    priority: null,
  });
  const cmdline = await readFile(`/proc/${supervisor.pid}/cmdline`, 'utf8');
  startSupervisedCommand(supervisor);
  await supervisor.ended;
  return {
    directory,
    cmdline,
    exit: readExitStatusFile(paths.exitPath),
    output: await readFile(paths.outputPath, 'utf8'),
  };
}

async function runBot(environment: Readonly<Record<string, string>>) {
  const { directory, cmdline, exit, output } = await start([process.execPath, '-e', printingBot], environment);
  expect({ exit, output }).toEqual({ exit: { state: 'exited', code: 0, signal: null }, output: '' });
  const report: Report = JSON.parse(await readFile(join(directory, 'report'), 'utf8'));
  return { ...report, cmdline };
}

async function expectExact(environment: Readonly<Record<string, string>>) {
  const { variables } = await runBot(environment);
  const expected = Object.entries(environment).map(([name, value]) => [
    name,
    createHash('sha256').update(value, 'utf8').digest('hex'),
  ]);
  expect(variables.filter(([name]) => Object.hasOwn(environment, name)).sort()).toEqual(expected.sort());
}

const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');
const specialValues = [
  printable,
  Array.from({ length: 31 }, (_, index) => String.fromCharCode(1 + index)).join(''),
  '\n\n a \r\n',
  ' leading and trailing \t\n',
  '$(touch report) `touch report` $\x7bHOME} $$ $1 $@ $*',
  '\'"\'"\\',
  '\\n\\0\\x00\\u0000\\',
  '%00%s%n',
  '=A=B=C',
  '() { :;}; echo shellshock',
  '-n',
  '* ~ #',
  '😀👩‍👩‍👧‍👦\uFEFFb\u00e9\u0301\u202e\u{10FFFF}\uFFFE',
];
const value = fc.oneof(
  fc.constantFrom(...specialValues),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).map((text) => text.replaceAll('\0', '.')),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
);
/** Variable names that mean something to a shell, an interpreter or the dynamic linker. */
const interpretedNames = [
  ...['_', 'PWD', 'OLDPWD', 'IFS', 'OPTIND', 'OPTARG', 'OPTERR', 'PPID', 'SHLVL', 'LINENO', 'PS1', 'PS2', 'PS4', 'ENV'],
  ...['UID', 'EUID', 'SHELLOPTS', 'BASHOPTS', 'BASH', 'BASH_ENV', 'RANDOM', 'SECONDS', 'HOSTNAME', 'TMOUT', 'MAIL'],
  ...['POSIXLY_CORRECT', 'CDPATH', 'LC_CTYPE', 'PERL5OPT', 'PERL5LIB', 'PERL5DB', 'PERL_UNICODE', 'PERLIO'],
  ...['go', 'status', 'command', '__proto__', 'constructor', 'toString', 'LD_LIBRARY_PATH', 'env'],
  ...['1', '-', '--', '-x', '1A', 'a-b', '__', 'A-', 'x'.repeat(64)],
];
/** Names of variables that the tests do not use, because arbitrary values of them make Node.js itself fail. */
const breaksNode = /^(LC_(ALL|MESSAGES)$|GLIBC_TUNABLES$|MALLOC_|NODE_|SSL_|OPENSSL_|UV_|LD_PRELOAD$|LD_AUDIT$)/;
const anyName = fc
  .oneof(
    { weight: 1, arbitrary: fc.constantFrom(...interpretedNames) },
    { weight: 6, arbitrary: fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/) },
  )
  .filter((name) => secretSetKeyPattern.test(name) && !breaksNode.test(name));
const plainName = fc.stringMatching(/^[A-Z][A-Z0-9]{0,63}_KEY$/).filter((name) => !breaksNode.test(name));

describe.each([false, ...(isRoot ? [true] : [])])('startSupervisor (private /tmp: %s)', (isPrivate) => {
  beforeAll(() => {
    hasPrivateTmp = isPrivate;
  });

  it.each([
    ['shell identifiers', plainName],
    ['any secret keys', anyName],
  ])(
    'passes the values of variables to the command unchanged if their names are %s',
    { timeout: 120_000 },
    async (_, name) => {
      const pairs = fc.uniqueArray(fc.tuple(name, value), {
        minLength: secretSetLimits.keys,
        maxLength: secretSetLimits.keys,
        selector: ([key]) => key,
      });
      const property = fc.asyncProperty(pairs, (list) => expectExact(Object.fromEntries(list)));
      await fc.assert(property, { numRuns: 15, endOnFailure: true });
    },
  );

  it('passes all variables of a secret set of the maximum size to the command', async () => {
    const count = secretSetLimits.bytes / maxSecretValueBytes - 1;
    const large = Array.from({ length: count }, (_, index) => [
      `KEY_${index}`,
      `${index}\n`.repeat(maxSecretValueBytes / 3),
    ]);
    const environment = Object.fromEntries(large);
    await expectExact(environment);
    await expectExact({ ...environment, 'a-b': "'".repeat(maxSecretValueBytes) });
  });

  it("passes no variable's value as an argument, adds no variable, and keeps the set of ignored signals", async () => {
    const plain = await runBot({ CANARY: 'canary-8241' });
    const renamed = await runBot({ 'a-b': 'canary-8241', PORT: '1' });
    expect(plain.cmdline + renamed.cmdline).not.toMatch(/canary-8241|a-b/);
    expect(renamed.ignored).toBe(plain.ignored);
    const names = renamed.variables.map(([name]) => name).filter((name) => name !== 'PWD');
    expect(names.sort()).toEqual(['PORT', 'a-b']);
  });

  it.each([
    ['/does/not/exist', 127],
    ['/etc/passwd', 126],
  ])('given the command %s, which cannot run, exits with status %s, like a shell', async (command, code) => {
    const { exit, output } = await start([command], { 'a-b': '1' });
    expect(exit).toEqual({ state: 'exited', code, signal: null });
    expect(output).toMatch(new RegExp(`${command}: (No such file|Permission)`));
  });
});

describe('passEnvironmentThroughShell', () => {
  it('requires perl only for variable names that a shell does not pass on, and lists only these names in the error', () => {
    expect(passEnvironmentThroughShell({ OK: '1' }, ['x'], null)).toEqual({ environment: { OK: '1' }, command: ['x'] });
    const pass = () => passEnvironmentThroughShell({ 'a-b': 'canary', OK: '1' }, ['x'], null);
    expect(pass).toThrow(/variable a-b, .* no perl/);
    expect(pass).not.toThrow(/canary/);
  });
});
