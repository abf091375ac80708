import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execPath } from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildBotcli } from '../build-botcli.ts';
import { runProgram } from '../run-program.ts';

async function complete(...words: readonly string[]): Promise<readonly string[]> {
  const { status, stdout } = await runProgram(['completion', 'bash', `--words=${[...words, '.'].join('\n')}`]);
  expect(status).toBe(0);
  return stdout.split('\n').slice(0, -1);
}

describe('botcli completion', () => {
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
  ])('for the words %j, suggests %j', async (words, expected) => {
    expect(await complete(...words)).toEqual(expected);
  });

  test.each([
    ['the value is a file', ['init', '--config', '']],
    ['any value is valid', ['init', '--name', '']],
    ['the command does not exist', ['nonsense', '']],
    ['the word is a property of every object', ['__proto__', '']],
    ['the command takes no more words', ['cloud', 'regions', 'list', 'x', '']],
  ])('prints no completions under the condition "%s", so that the shell completes file names', async (_what, words) => {
    expect(await complete(...words)).toEqual([]);
  });

  test('does not suggest an option that is already on the command line, unless it can be repeated', async () => {
    const names = await complete('init', '--eval', '--mode', 'cascade', '-t', 'lightrtc', '--transport', 'x', '--');
    expect(names).toContain('--transport');
    expect(names).not.toContain('--mode');
    expect(names).not.toContain('--no-eval');
  });

  test('prints completions even if the profile is invalid', async () => {
    const { status } = await runProgram(['completion', 'bash'], {
      variables: { BOTCLI_CONFIG: '/dev/full/x', BOTCLI_API_URL: 'x' },
    });
    expect(status).toBe(0);
  });
});

describe('the completion script', () => {
  let program: string;
  let home: string;
  beforeAll(async () => {
    program = await buildBotcli();
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

  /** Calls the shell function that bash calls for completion, with the variables that bash sets. */
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

  test('completes commands, options and values in bash', () => {
    expect(bash('botcli cloud agent st')).toEqual(['status', 'start', 'stop']);
    expect(bash('botcli init --tts cartesia')).toEqual(['cartesia_tts']);
    expect(bash('botcli cloud ')).toContain('deploy');
    expect(bash('botcli init --config ans')).toEqual(['']);
    expect(run('bash', ['--norc', '-c', 'eval "$(botcli completion bash)"; complete -p botcli'])).toContain(
      'complete -o default -F _botcli botcli',
    );
  });

  test('completes commands and values in the line editor of zsh', ({ skip }) => {
    skip(!existsSync('/usr/bin/zsh'), 'zsh is not installed');
    // The line editor needs a terminal, which the module zsh/zpty emulates.
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

  test('completes words with their descriptions in fish', ({ skip }) => {
    skip(!existsSync('/usr/bin/fish'), 'fish is not installed');
    const fish = (line: string) => {
      const script = `botcli completion fish | source; complete -C '${line}'`;
      return run('/usr/bin/fish', ['--no-config', '-c', script]).trim().split('\n');
    };
    expect(fish('botcli cloud agent st')).toContainEqual(expect.stringMatching(/^stop\t/));
    expect(fish('botcli init --tts cartesia').join()).toContain('cartesia_tts');
    expect(fish('botcli init --config ans').join()).toContain('answers.json');
  });
});
