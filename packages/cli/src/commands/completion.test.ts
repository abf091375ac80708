import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execPath } from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildProgram } from '../../test/build-program.ts';
import { runProgram } from '../../test/run-program.ts';

/** What is offered for the last of some words. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const { status, stdout } = await runProgram(['completion', 'bash', `--words=${[...words, '.'].join('\n')}`]);
  expect(status).toBe(0);
  return stdout.split('\n').slice(0, -1);
}

describe('what a word may become', () => {
  test.each([
    [['cl'], ['cloud']],
    [
      ['cloud', 'agent', 'st'],
      ['status', 'start', 'stop'],
    ],
    [
      ['--json', 'project', ''],
      ['add', 'check', 'update'],
    ],
    [
      ['cloud', 'agent', 'sessions', 'x', '--status', ''],
      ['active', 'ended', 'all'],
    ],
    [
      ['cloud', 'agent', 'sessions', 'x', '--status=a'],
      ['--status=active', '--status=all'],
    ],
    [
      ['cloud', 'agent', 'sessions', 'x', '--status', '=', 'a'],
      ['active', 'all'],
    ],
    [['init', '--no-re'], ['--no-recording']],
    [
      ['init', '-t', 'lightrtc', '-t', 'hostedrtc_pstn_'],
      ['hostedrtc_pstn_dialin', 'hostedrtc_pstn_dialout'],
    ],
    [['init', '--realtime', 'openai'], ['openai_realtime']],
    [['init', '--client-framework', 'v'], ['vanilla']],
    [['init', 'q'], ['quickstart']],
    [['project', 'add', 'enable'], ['enable-nc']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
  ])('%j: %j', async (words, expected) => {
    expect(await offered(...words)).toEqual(expected);
  });

  test.each([
    ['a file', ['init', '--config', '']],
    ['anything', ['init', '--name', '']],
    ['nobody knows', ['nonsense', '']],
    ['what every object has', ['__proto__', '']],
    ['no more words', ['cloud', 'regions', 'list', 'x', '']],
  ])('%s: nothing is offered, so that the shell offers files', async (_what, words) => {
    expect(await offered(...words)).toEqual([]);
  });

  test('does not suggest a given option again, unless it can be repeated', async () => {
    const names = await offered('init', '--eval', '--mode', 'cascade', '-t', 'lightrtc', '--transport', 'x', '--');
    expect(names).toContain('--transport');
    expect(names).not.toContain('--mode');
    expect(names).not.toContain('--no-eval');
  });

  test('completes with an invalid profile', async () => {
    const { status } = await runProgram(['completion', 'bash'], {
      variables: { BOTCLI_CONFIG: '/dev/full/x', BOTCLI_API_URL: 'x' },
    });
    expect(status).toBe(0);
  });
});

describe('in a shell', () => {
  let program: string;
  let home: string;
  beforeAll(async () => {
    program = await buildProgram();
    home = await mkdtemp(join(tmpdir(), 'botcli-shell-'));
    await symlink(join(program, 'bin/botcli.js'), join(program, 'botcli'));
    await mkdir(join(home, 'some-folder'));
    await writeFile(join(home, 'answers.json'), '{}');
  });
  afterAll(async () => {
    for (const place of [program, home]) await rm(place, { recursive: true, force: true });
  });

  function run(shell: string, args: readonly string[]): string {
    const env = { PATH: `${program}:${dirname(execPath)}:/usr/bin:/bin`, HOME: home, TERM: 'dumb' };
    const { stdout, stderr } = spawnSync(shell, args, { cwd: home, env, encoding: 'utf8', timeout: 60_000 });
    expect(stderr).toBe('');
    return stdout;
  }

  /** What bash's own completion makes of a line: what the function for the command offers. */
  const bash = (line: string) => {
    const words = line.split(' ');
    const script = `
      eval "$(botcli completion bash)"
      COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
      COMP_CWORD=${words.length - 1}
      _botcli botcli
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    return run('bash', ['--norc', '-c', script]).trim().split('\n');
  };

  test('bash completes commands, options and values', () => {
    expect(bash('botcli cloud agent st')).toEqual(['status', 'start', 'stop']);
    expect(bash('botcli init --tts cartesia')).toEqual(['cartesia_tts']);
    expect(bash('botcli cloud ')).toContain('deploy');
    expect(bash('botcli init --config ans')).toEqual(['']);
    expect(run('bash', ['--norc', '-c', 'eval "$(botcli completion bash)"; complete -p botcli'])).toContain(
      'complete -o default -F _botcli botcli',
    );
  });

  test.skipIf(!existsSync('/usr/bin/zsh'))('zsh completes in its line editor', () => {
    // The line editor needs a terminal: zsh's own module for one gives it that.
    const script = `
      zmodload zsh/zpty
      zpty -b shell zsh -f -i
      zpty -w shell 'PS1=; autoload -Uz compinit; compinit -u -d ${home}/dump; eval "$(botcli completion zsh)"; print REA''DY'
      zpty -r -m shell out '*READY*'
      zpty -w -n shell $'botcli init --tts cartes\\t'
      zpty -r -m shell out '*cartesia_tts*'
      zpty -w -n shell $'\\C-ubotcli cloud regi\\t'
      zpty -r -m shell out '*regions*'
      zpty -d shell
      print done`;
    expect(run('/usr/bin/zsh', ['-f', '-c', script]).trim()).toBe('done');
  });

  test.skipIf(!existsSync('/usr/bin/fish'))('fish completes, and says what is what', () => {
    const fish = (line: string) => {
      const script = `botcli completion fish | source; complete -C '${line}'`;
      return run('/usr/bin/fish', ['--no-config', '-c', script]).trim().split('\n');
    };
    expect(fish('botcli cloud agent st')).toContainEqual(expect.stringMatching(/^stop\t/));
    expect(fish('botcli init --tts cartesia').join()).toContain('cartesia_tts');
    expect(fish('botcli init --config ans').join()).toContain('answers.json');
  });
});
