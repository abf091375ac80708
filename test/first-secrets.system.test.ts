import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { type BuiltService, startBuiltService } from './built-service.ts';
import { renderTerminalScreen } from './screen.ts';
import { createDocumentedOutputPattern, normalizeTerminalOutput, readDocumentedSteps } from './transcript.ts';

/** Follows docs/secrets.md in a real terminal, with the built service and the built botcli. */
const root = fileURLToPath(new URL('..', import.meta.url));
let service: BuiltService;
let folder: string;
let environment: Readonly<Record<string, string>>;

// Use a new service, which has no secrets, for each attempt of the test.
beforeEach(async () => {
  service = await startBuiltService();
  onTestFinished(service.close);
  folder = join(service.folder, 'my-bot');
  await mkdir(folder);
  environment = { ...service.environment, BOTCLI_API_URL: service.origin, NO_COLOR: '1', TERM: 'xterm' };
}, 120_000);

/**
 * Runs commands in a terminal and returns the output. Answers "yes" to every question. At every hidden prompt, enters a value
 * that is also valid as registry credentials.
 */
function typeInTerminal(commands: string): Promise<string> {
  const script = join(folder, '..', 'step.sh');
  const command = `stty cols 80 rows 40; . ${script}`;
  return new Promise((resolve, reject) => {
    void writeFile(script, commands.replaceAll('http://127.0.0.1:7420', service.origin)).then(() => {
      const child = spawn('/usr/bin/script', ['-qec', `bash -c '${command}'`, '/dev/null'], {
        cwd: folder,
        env: environment,
      });
      let written = '';
      let answered = 0;
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        written += text;
        const questions = [...written.matchAll(/◆|\(not shown\): /g)].slice(answered);
        answered += questions.length;
        for (const [question] of questions) child.stdin.write(question === '◆' ? 'y' : 'typed:value\r');
      });
      child.on('error', reject).on('close', () => resolve(renderTerminalScreen(written)));
    });
  });
}

const sections = [
  'A first set',
  'One more key',
  'List sets and keys',
  'Compare and roll back',
  'In a script',
  'Remove keys and sets',
  'Image pull secrets',
  'Credentials of a registry',
];

const specified: Readonly<Record<string, readonly RegExp[]>> = {
  list: [/list [a-z]/, /(?:--sets|-s) /, /(?:--organization|-o) /, /(?:--region|-r) /],
  set: [
    /set [a-z][-a-z]+ '?[A-Z]+=/,
    /(?:--file|-f) /,
    /(?:--skip|-s)\b/,
    /(?:--organization|-o) /,
    /(?:--region|-r) /,
  ],
  unset: [/unset [a-z][-a-z]+ [A-Z]/, /(?:--skip|-s)\b/, /(?:--organization|-o) /],
  delete: [/delete [a-z]/, /(?:--skip|-s)\b/, /(?:--organization|-o) /],
  'image-pull-secret': [
    / hub docker\.io --/,
    / hub docker\.io \w+:\S+/,
    /--encode\b/,
    /--no-encode\b/,
    /(?:--organization|-o) /,
    /(?:--region|-r) /,
  ],
};

/** Returns the arguments and options of `botcli cloud secrets` that none of the commands from docs/secrets.md uses. */
function notShown(commands: readonly string[]): readonly string[] {
  return Object.entries(specified).flatMap(([name, rows]) => {
    const lines = commands.filter((line) => line.includes(`botcli cloud secrets ${name} `));
    return rows.filter((row) => !lines.some((line) => row.test(line))).map((row) => `${name} ${row.source}`);
  });
}

// Runs all sections in order, because each continues the previous one.
it('the commands in docs/secrets.md print the documented output and use every option', async () => {
  const document = await readFile(join(root, 'docs/secrets.md'), 'utf8');
  const commands: string[] = [];
  for (const title of sections) {
    const steps = readDocumentedSteps(document, title);
    expect(steps.length, title).toBeGreaterThan(0);
    for (const step of steps) {
      if (step.kind === 'file') {
        await writeFile(join(folder, step.name), step.text);
        continue;
      }
      commands.push(...step.text.split('\n'));
      const shown = normalizeTerminalOutput(await typeInTerminal(step.text)).replace(/\b[0-9a-f]{8}\b/g, 'PRINT');
      if (step.printed !== null)
        expect(`${shown}\n`, title).toMatch(
          createDocumentedOutputPattern(step.printed.replace(/\b[0-9a-f]{8}\b/g, 'PRINT')),
        );
    }
  }
  expect(notShown(commands)).toEqual([]);
}, 240_000);

it("a deploy from a project's root uses server/deploy.toml and creates the secret set from server/.env", async () => {
  const files = {
    'deploy.toml': 'agent_name = "greeter"\nsecret_set = "greeter-secrets"\n',
    '.env': 'GREETING=confidential\nUNUSED=\n',
    'package.json': '{ "type": "module", "main": "bot.js" }',
    'bot.js': `import { createServer } from 'node:http';
      createServer((_, response) => response.end(process.env.GREETING)).listen(process.env.PORT, process.env.BOT_HOST);`,
  };
  await mkdir(join(folder, 'server'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, 'server', name), text);
  const shown = await typeInTerminal('botcli cloud deploy');
  expect(shown).toContain("The agent's secret set greeter-secrets does not exist. It can be created from server/.env:");
  expect(shown).toMatch(/GREETING +new +12 bytes/);
  expect(shown).toContain('Skipped keys without a value: UNUSED');
  expect(shown).toMatch(/Settings +server\/deploy.toml/);
  expect(shown).toMatch(/Result +Active/);
  expect(shown).not.toContain('confidential');
  expect(await service.ask('agents/greeter')).toMatchObject({
    deployment: { manifest: { spec: { envFromSecretNames: ['greeter-secrets'] } } },
  });
}, 60_000);

it('the commands in a generated README store the secrets of the project', async () => {
  const init = 'botcli init gen -t lightrtc -m cascade --stt deepgram_stt --llm openai_llm --tts cartesia_tts';
  const early = await typeInTerminal(`${init} > /dev/null; cd gen/server; botcli cloud deploy --dry-run`);
  expect(early).toContain("The agent's secret set gen-secrets does not exist");
  const [, help = 'no command'] = /then run: (.*)/.exec(early) ?? [];
  expect(await readFile(join(folder, 'gen/README.md'), 'utf8')).toContain(`\n${help}\n`);
  const fill = "cp .env.example .env; sed -i 's/^OPENAI_API_KEY=/&sk-proj/' .env";
  const set = await typeInTerminal(`cd gen/server; ${fill}; ${help}`);
  expect(set).toMatch(/Created +gen-secrets/);
  expect(set).toContain('Skipped keys without a value: DEEPGRAM_API_KEY, CARTESIA_API_KEY');
  const announced = await typeInTerminal('cd gen/server; botcli cloud deploy --dry-run');
  expect(announced).toMatch(/secret_set +- +-> +gen-secrets/);
}, 60_000);
