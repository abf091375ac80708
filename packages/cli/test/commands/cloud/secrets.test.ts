import { execFile, execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { startFakeSecretService } from '../../fake-service/fake-secret-service.ts';
import type { RunOptions } from '../../run-program.ts';
import { type Expectation, useCommands } from '../use-commands.ts';

const commands = useCommands('cloud secrets', startFakeSecretService);
const secrets = commands.run;
const set = (args: readonly string[], expected: Expectation | null = null, given: RunOptions = {}) =>
  secrets(['set', 'bot-secrets', ...args], expected, given);
const save = (name: string, content: string | Uint8Array) => writeFile(join(commands.directory, name), content);
const person = (...answers: (string | boolean)[]): RunOptions => ({ terminal: true, columns: 100, answers });
const puts = () =>
  commands.service.requests.filter(({ operation }) => operation === 'putSecrets').map(({ body }) => body);

test('set shows the changes, asks for confirmation once, and sends the shown revision as a precondition', async () => {
  commands.service.values.set('B', 'old').set('C', 'same').set('D', 'stays');
  commands.service.state.revision = 4;
  commands.service.state.agents = [{ name: 'parrot', revision: 4, stale: false }];
  const { status, stdout, stderr } = await set(['A=1', 'B=new value', 'C=same'], null, person(true));
  expect({ status, puts: puts().length }).toEqual({ status: 0, puts: 2 });
  expect(puts()[0]).toMatchObject({ dryRun: true, expectedRevision: null });
  expect(puts()[1]).toMatchObject({
    dryRun: false,
    expectedRevision: 4,
    region: 'us-west',
    mode: 'merge',
    secrets: [
      { secretKey: 'A', secretValue: '1' },
      { secretKey: 'B', secretValue: 'new value' },
      { secretKey: 'C', secretValue: 'same' },
    ],
  });
  const shown = stripVTControlCharacters(stderr);
  expect(shown).toContain('bot-secrets (at revision 4)');
  expect(shown).toContain('Organization  acme\n');
  expect(shown).toContain('Region        us-west (the default)\n');
  expect(shown).toMatch(
    /\n\+ {2}A {4}new {9}1 byte {2}[0-9a-f]{8}\n~ {2}B {4}changed {4}9 bytes .*\n= {2}C {4}unchanged/,
  );
  expect(shown).toContain('The agent parrot uses this set. It keeps the current values until');
  expect(shown.match(/^\? /gm)).toEqual(['? ']);
  expect(stdout).toContain('Updated');
  expect(stdout + stderr).not.toContain('new value');
});

test('set excludes the quotes of a quoted value from the length that it shows', async () => {
  const { stderr } = await set(['B="two words"'], {}, person(true));
  expect(stripVTControlCharacters(stderr)).toMatch(/\n\+ {2}B .* 9 bytes /);
  expect(commands.service.values.get('B')).toBe('two words');
});

test('set rejects a reserved key and says why it is reserved', async () => {
  await set(['PORT=1', 'PIPECAT_SETUP_FILES=x.py', '--skip'], {
    status: 1,
    stderr: [
      'argument 1: PORT is reserved: the service sets or removes this variable',
      'argument 2: PIPECAT_SETUP_FILES is reserved: Pipecat runs the Python files that this variable names',
    ],
    requests: [],
  });
});

test('set rejects an unknown region with an error that names the region', async () => {
  const { status, stderr } = await set(['A=1', '--region', 'moon', '--skip']);
  expect({ status, stderr }).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('Region "moon" does not exist.'),
  });
  expect(stderr).toContain('botcli cloud regions list');
});

test('set changes nothing if the user answers no (exit 1), presses Ctrl-C (exit 130) or has no terminal (exit 2)', async () => {
  await set(['A=1'], { status: 1, stderr: 'Nothing was' }, person(false));
  await set(['A=1'], { status: 130, stderr: /\nCanceled\. Nothing was changed\.\n$/ }, person('ctrl-c'));
  const asked = commands.service.requests.length;
  await set(['A=1'], { status: 2, wholeStdout: '', stderr: '--skip' });
  expect(commands.service.requests).toHaveLength(asked);
  expect(commands.service.values.size).toBe(0);
});

test('set does not overwrite a revision that was written while it asked for confirmation', async () => {
  commands.service.state.revision = 1;
  commands.service.state.afterDryRun = () => {
    commands.service.state.revision = 2;
  };
  await set(['A=1'], { status: 1, stderr: 'Run the command again to see' }, person(true));
  expect(commands.service.values.size).toBe(0);
});

test('set --json without a confirmation (--skip) sends one request and prints one JSON document', async () => {
  await set(['A=1', '--skip', '--json'], {
    json: { change: 'created', revision: 1, skipped: [], readiness: 'pending' },
  });
  expect(commands.service.requests.map(({ operation }) => operation)).toEqual(['putSecrets']);
});

test('set writes nothing and asks for no confirmation with --dry-run or if no value changes', async () => {
  await set(['A=1', '--dry-run'], { stdout: '+\tA\tnew\t1 byte\t' });
  expect(commands.service.state.revision).toBe(0);
  await set(['A=1', '-s']);
  await set(['A=1'], { stderr: 'Nothing changes.' }, person());
  expect(commands.service.state.revision).toBe(1);
});

test('set with unchanged values retries a failed delivery to the region without asking for confirmation', async () => {
  await set(['A=1', '-s']);
  commands.service.state.status = 'failed';
  await set(['A=1'], { stdout: /Unchanged.*Pending/s }, person());
  const bodies = commands.service.requests
    .filter(({ operation }) => operation === 'putSecrets')
    .map(({ body }) => body);
  expect(bodies.slice(1)).toMatchObject([{ dryRun: true }, { dryRun: false, expectedRevision: 1 }]);
});

test('set sends --replace, --if-revision and --region to the service', async () => {
  commands.service.values.set('OLD', 'x');
  commands.service.state.revision = 3;
  await set(['A=1', '-s', '--replace', '--if-revision', '3', '-r', 'us-west']);
  expect(puts()).toEqual([expect.objectContaining({ mode: 'replace', expectedRevision: 3, region: 'us-west' })]);
  expect([...commands.service.values.keys()]).toEqual(['A']);
  await set(['A=2', '-s', '--if-revision', '3'], { status: 1 });
});

test('set --wait returns when the revision is ready in the region, and prints the reason if the delivery fails', async () => {
  await set(['A=1', '-s', '--wait'], { stdout: 'ready' });
  commands.service.state.status = 'failed';
  await set(['A=2', '-s', '--wait=5s'], {
    status: 1,
    stderr: 'Revision 2 of bot-secrets is stored, but the region refused it. The region has no',
  });
});

test('set warns about an argument that is not a valid variable name before it prompts for the value', async () => {
  const { stderr } = await set(['A=1', '--wait', '30s'], null, person('x', false));
  expect(stderr.indexOf('argument 2: 30s is not a valid name for a shell variable')).toBeGreaterThan(-1);
  expect(stderr.indexOf('not a valid name for a shell variable')).toBeLessThan(stderr.indexOf('? Value of 30s'));
});

test('set --wait reports that the revision is stored when Ctrl-C interrupts it', async () => {
  commands.service.state.status = 'pending';
  const interruption = new AbortController();
  const outcome = await set(
    ['A=1', '--wait'],
    { status: 130 },
    {
      ...person(true),
      signal: interruption.signal,
      onStderr: (text) => {
        if (text.includes('Waiting until the region has')) interruption.abort();
      },
    },
  );
  const output = stripVTControlCharacters(outcome.stderr);
  expect(output.endsWith('Revision 1 of bot-secrets is stored.\nInterrupted.\n')).toBe(true);
});

test('set stores values from standard input, files and prompts unchanged, and warns about final line breaks and shell history', async () => {
  await save('key.pem', '-----BEGIN-----\r\nx\r\n');
  const options = { ...person('typed \t value', true), stdin: 'piped\n' };
  const { stderr } = await set(['A=-', 'B=@key.pem', 'C', 'D=\\@home'], {}, options);
  expect(Object.fromEntries(commands.service.values)).toEqual({
    A: 'piped\n',
    B: '-----BEGIN-----\r\nx\r\n',
    C: 'typed \t value',
    D: '@home',
  });
  expect(stderr).toContain('warning: standard input: A: the value ends with a line break, which is part of it');
  expect(stderr).toContain("warning: values in arguments stay in the shell's history");
});

test('set reads a .env file, reads JSON from standard input, and reports skipped keys with an empty value', async () => {
  await save('.env', '\u{feff}export A="1"\r\nEMPTY=\r\nA-B=2\r\n');
  await set(['-f', '.env', '-s'], {
    stderr: [
      'Skipped keys without a value: EMPTY\n',
      'warning: .env:3: A-B is not a valid name for a shell variable\n',
    ],
    hides: 'history',
  });
  await set(['--file', '-', '--format', 'json', '-s'], null, { stdin: '{"C": "3"}' });
  expect(Object.fromEntries(commands.service.values)).toEqual({ A: '1', 'A-B': '2', C: '3' });
});

test('set reports the problems of all sources at once, with their locations, before it prompts or sends a request', async () => {
  await save('.env', 'A=canary # x\nPORT=1\nB=1\nB=2\nBOTHOST_X=1\n');
  await save('utf16', Buffer.from('\u{feff}x', 'utf16le'));
  await save('big', 'x'.repeat(65_537));
  const { stderr } = await set(
    ['-f', '.env', 'B=3', 'C=@utf16', 'D=@big', 'E=', 'F'],
    { status: 1, wholeStdout: '' },
    person(),
  );
  for (const line of [
    '8 problems were found in the keys and values. Nothing was sent.',
    'argument 4: has an empty value',
    '.env:1: white space and #',
    'utf16:1: the file is UTF-16',
    'big: the content is larger than the limit of 65536 bytes',
    '.env:2: PORT is reserved: the service sets',
    '.env:4: B is a duplicate of .env:3',
    '.env:5: BOTHOST_X is reserved: the service sets',
    'argument 1: B is a duplicate of',
  ]) {
    expect(stderr).toContain(line);
  }
  expect(stderr).not.toContain('canary');
  expect(commands.service.requests).toEqual([]);
});

test('set rejects an oversized value or secret set without sending a request, and reports the actual size', async () => {
  const many = Array.from({ length: 257 }, (_, index) => `K${index}=x`);
  await save('many', many.join('\n'));
  await set(['-f', 'many', '-s'], { status: 1, stderr: 'many: 257 keys; a set has at most 256' });
  await save('large', Array.from({ length: 9 }, (_, index) => `K${index}=${'x'.repeat(60_000)}`).join('\n'));
  await set(['-f', 'large', '-s'], { status: 1, stderr: 'large: 540018 bytes; a set has at most 524288' });
  await save('huge', `A=${'x'.repeat(1_048_577)}`);
  await set(['-f', 'huge', '-s'], { status: 1, stderr: 'huge: the content is larger than the limit of 1048576 bytes' });
  await set(['A=a\0b', '-s'], { status: 1, stderr: 'argument 1: A: contains a NUL character' });
  expect(commands.service.requests).toEqual([]);
});

test.each([
  [[], 2, 'No keys were given.'],
  [['A=-', '--file', '-', '-s'], 2, 'Standard input can be read only once.'],
  [['A', '-s'], 2, 'no terminal to prompt for the value'],
  [['-f', 'missing', '-s'], 1, 'Cannot read missing (ENOENT).'],
  [['-f', '.', '-s'], 1, '. is a directory, not a file.'],
  [['B=1', 'A=@hunter2', '-s'], 1, 'Cannot read the file in argument 2 for A (ENOENT).'],
  [['A=@', '-s'], 1, 'argument 1: has no file name after its @'],
  [['-f', '/dev/null', '-s'], 1, 'None of the keys has a value'],
])('set with the arguments %j exits with %i and sends no request', async (args, status, message) => {
  await set(
    args,
    { status, wholeStdout: '', stderr: message, requests: [], hides: 'hunter2' },
    args.length === 0 ? person() : {},
  );
});

test.each(['../x', 'a/K', 'a#x', '.', 'ｓｅｔ', '-a', 'a b', 'x'.repeat(64)])(
  'every command rejects the secret set name %j without sending a request',
  async (name) => {
    for (const args of [
      ['set', '--', name, 'A=1'],
      ['unset', '--', name, 'A'],
      ['delete', '--', name],
      ['list', '--', name],
      ['history', '--', name],
      ['rollback', '--', name, '1'],
    ]) {
      await secrets(args, { status: 1, stderr: 'Invalid name of a secret set: use 1 to 63 letters' }, person(true));
    }
    expect(commands.service.requests).toEqual([]);
  },
);

test('set reads a FIFO, and prints a notice while it waits for the writer', async () => {
  execFileSync('mkfifo', [join(commands.directory, 'pipe')]);
  const interruption = new AbortController();
  const outcome = set(['A=@pipe', '-s'], null, {
    signal: interruption.signal,
    onStderr: (text) => {
      if (/Waiting for the end of \S*pipe/.test(text)) interruption.abort();
    },
  });
  expect((await outcome).status).toBe(130);
  const written = set(['A=@pipe', '-s']);
  await promisify(execFile)('bash', ['-c', 'printf a > pipe'], { cwd: commands.directory });
  expect((await written).status).toBe(0);
  expect(commands.service.values.get('A')).toBe('a');
});

test('unset does not print an invalid key, because it may contain a value', async () => {
  commands.service.values.set('A', '1');
  commands.service.state.revision = 1;
  for (const more of [[], ['--if-exists'], ['--json']]) {
    const { status, stdout, stderr } = await secrets(['unset', 'bot-secrets', 'A', 'B=hunter2', '-s', ...more]);
    expect({ status, output: stdout + stderr }).toEqual({
      status: 1,
      output: expect.stringContaining('Argument 2 is not a key: use 1 to 64 letters'),
    });
    expect(stdout + stderr).not.toContain('hunter2');
  }
  expect(commands.service.requests).toEqual([]);
});

test('unset reports an invalid secret key with the reason "secret-key-invalid"', async () => {
  await secrets(['unset', 'bot-secrets', 'B=1', '--json'], {
    status: 1,
    json: { error: { reason: 'secret-key-invalid' } },
  });
});

test('unset removes several keys in one revision, and fails for a missing key unless --if-exists is given', async () => {
  commands.service.values.set('A', '1').set('B', '2').set('C', '3');
  commands.service.state.revision = 1;
  await secrets(
    ['unset', 'bot-secrets', 'A', 'b'],
    { status: 1, stderr: 'bot-secrets has no key b. Nothing was changed.' },
    person(true),
  );
  await secrets(
    ['unset', 'bot-secrets', 'A', 'B', 'A', 'X', '--if-exists'],
    { stderr: '? Remove 2 keys from bot-secrets?' },
    person(true),
  );
  expect(puts().at(-1)).toEqual({ remove: ['A', 'B'], dryRun: false, expectedRevision: 1 });
  expect([...commands.service.values.keys()]).toEqual(['C']);
  await secrets(['unset', 'missing', 'A', '--if-exists', '-s'], {});
  await secrets(['unset', 'missing', 'A', '-s'], { status: 1, stderr: 'list --no-sets' });
});

test('delete shows the keys of a secret set before it asks, and refuses to delete a set in use without --force', async () => {
  commands.service.values.set('A', '1');
  commands.service.state.revision = 1;
  await secrets(['delete', 'bot-secrets'], { status: 2, stderr: '--skip' });
  await secrets(['delete', 'bot-secrets'], { status: 1, stderr: 'Keys of the set: A' }, person(false));
  commands.service.state.agents = [{ name: 'parrot', revision: 1, stale: false }];
  await secrets(['delete', 'bot-secrets'], { status: 1, stderr: 'is used by parrot. Nothing was deleted.' }, person());
  await secrets(['delete', 'bot-secrets', '--skip'], { status: 1 });
  await secrets(
    ['delete', 'bot-secrets', '--force'],
    { stderr: 'New ones cannot start until the agents are deployed again' },
    person(true),
  );
  expect(commands.service.state.revision).toBe(0);
});

test('delete removes the set only if it still has the shown revision or the revision of --if-revision', async () => {
  commands.service.values.set('A', '1');
  commands.service.state.revision = 2;
  for (const more of [[], ['--skip'], ['--force', '--skip'], ['--dry-run']]) {
    const refused = await secrets(['delete', 'bot-secrets', '--if-revision', '1', ...more], null, person(true));
    expect([more, refused]).toMatchObject([more, { status: 1, stderr: expect.stringContaining('revision') }]);
  }
  expect(commands.service.state.revision).toBe(2);
  await secrets(['delete', 'bot-secrets'], {}, person(true));
  expect(commands.service.requests.at(-1)?.query).toEqual({ force: 'false', expectedRevision: '2' });
  commands.service.state.revision = 3;
  await secrets(['delete', 'bot-secrets', '--if-revision', '3', '-s'], {});
  expect(commands.service.state.revision).toBe(0);
});

test('list shows only the error of a damaged secret set, and delete can remove a damaged set', async () => {
  commands.service.state.revision = 2;
  commands.service.state.isDamaged = true;
  const list = await secrets(['list']);
  expect(list.stdout.split('\n')[1]).toBe('bot-secrets\t\tfailed\t\t\t');
  expect(list.stdout + list.stderr).toContain('is damaged or was changed');
  await secrets(['list', 'bot-secrets'], { stdout: /is damaged or was changed/, hides: /us-west|Revision/ });
  const deletion = await secrets(['delete', 'bot-secrets'], null, person(true));
  expect(deletion).toMatchObject({ status: 0, stderr: expect.not.stringContaining('at revision') });
  expect(commands.service.state.revision).toBe(0);
});

test('list shows all secret sets by default, pull secrets with the option --no-sets, and details with a name as argument', async () => {
  commands.service.values.set('A', '1');
  commands.service.state.revision = 2;
  commands.service.state.agents = [{ name: 'parrot', revision: 1, stale: true }];
  await secrets(['list'], {
    wholeStdout:
      'Name\tRegion\tStatus\tRevision\tKeys\tUpdated\nbot-secrets\tus-west\tready\t2\t1\t2026-11-20T16:00:00.000Z\n',
  });
  expect(commands.service.requests.at(-1)?.query).toEqual({ type: 'secret' });
  await secrets(['list', '-s', '-r', 'eu']);
  expect(commands.service.requests.at(-1)?.query).toEqual({ type: 'secret', region: 'eu' });
  await secrets(['list', '--no-sets'], { stdout: 'registry\tpull secret\tus-west\tready\t2\t\t' });
  const shown = await secrets(['list', 'bot-secrets'], null, { terminal: true, columns: 100 });
  expect(stripVTControlCharacters(shown.stdout)).toMatch(
    /parrot +1 {2}older\n\nDeploy these agents again to use revision 2: parrot\n/,
  );
  await secrets(['list', 'bot-secrets', '-r', 'eu'], { status: 1 });
  await secrets(['list', 'registry'], { stdout: 'Registry\tghcr.io\n' });
});

test('history shows the author, time and changed keys of each revision', async () => {
  commands.service.state.revision = 2;
  const plain = await secrets(['history', 'bot-secrets']);
  expect(plain.stdout.split('\n')[1]).toBe('2\tready\t2026-11-20T16:00:00.000Z\tfirst\tset\t+A +B +C ~D -E -F');
  expect(plain.stderr).toBe('Next page: --before 1\n');
  expect(plain.stdout).toContain('rollback to 1');
  await secrets(['history', 'bot-secrets'], { stdout: '+A +B +C ~D and 2 more' }, { terminal: true, columns: 100 });
});

test('rollback asks for confirmation and sends the current revision as a precondition', async () => {
  commands.service.values.set('A', 'new');
  commands.service.state.revision = 2;
  await secrets(['rollback', 'bot-secrets', '1'], { stderr: '? Roll bot-secrets back to revision 1?' }, person(true));
  expect(commands.service.requests.at(-1)).toMatchObject({ body: { revision: 1, dryRun: false, expectedRevision: 2 } });
  await secrets(['rollback', 'bot-secrets', 'one'], { status: 2 });
});

test('diff lists keys that exist only in the file or only in the secret set, and writes nothing', async () => {
  await save('.env', 'A=1\nB=2\nE=\n');
  await secrets(['diff', 'bot-secrets', '-f', '.env'], { status: 1 });
  commands.service.values.set('A', '1').set('C', '3');
  commands.service.state.revision = 2;
  await secrets(['diff', 'bot-secrets', '-f', '.env'], {
    stdout:
      /^\tKey\tChange\tLength\tFingerprint\n=\tA\tsame\t.*\n\+\tB\tonly in the file\t.*\n-\tC\tonly in the set\t\t\n$/,
    wholeStderr: 'Compared with revision 2 of bot-secrets.\nWithout a value in .env: E\n',
  });
  expect(commands.service.state.revision).toBe(2);
});

test('set reports that the revision may have been stored if the connection breaks before the response', async () => {
  commands.service.state.losesWrite = true;
  await set(['A=1', '-s'], { status: 1, stderr: 'was stored completely or not at all' });
  const stopped = await startFakeSecretService();
  await stopped.close();
  await set(['A=1', '-s', '--api-url', stopped.origin], {
    status: 1,
    stderr: 'No program is listening at this URL',
    hides: 'stored completely or not at all',
  });
});
