import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { resolveConfiguration } from '../../src/scaffold/configuration/resolve.ts';
import { generateProjectFiles } from '../../src/scaffold/project/project.ts';

const kinds = [
  ['vanilla', 'vite'],
  ['react', 'vite'],
  ['react', 'nextjs'],
] as const;
const transportSets = [['lightrtc'], ['hostedrtc'], ['websocket'], ['lightrtc', 'hostedrtc', 'websocket', 'livekit']];
const packages = {
  lightrtc: '@pipecat-ai/small-webrtc-transport',
  hostedrtc: '@pipecat-ai/daily-transport',
  websocket: '@pipecat-ai/websocket-transport',
};
const cases = kinds.flatMap(([framework, server]) =>
  transportSets.flatMap((transports) =>
    ['Bot "one"', "it's \\ here"].map((name) => ({ framework, server, transports, name })),
  ),
);

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'botcli-clients-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

function clientOf({ framework, server, transports, name }: (typeof cases)[number]) {
  const { configuration, issues } = resolveConfiguration(
    {
      project_name: name,
      transports,
      mode: 'realtime',
      realtime_service: 'openai_realtime',
      client_framework: framework,
      client_server: server,
    },
    'demo',
  );
  if (configuration === null) throw new Error(JSON.stringify(issues));
  return generateProjectFiles(configuration).filter(({ path }) => path.startsWith('client/'));
}

test('every generated client passes the Biome checks with the configuration that the client contains', async () => {
  const biome = fileURLToPath(new URL('../../../../node_modules/.bin/biome', import.meta.url));
  for (const [index, one] of cases.entries()) {
    const root = join(directory, String(index));
    for (const { path, text } of clientOf(one)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
    const [status, output] = await new Promise<readonly [unknown, string]>((settle) =>
      execFile(biome, ['check', '--error-on-warnings', '.'], { cwd: join(root, 'client') }, (error, stdout, stderr) =>
        settle([error?.code ?? 0, stdout + stderr]),
      ),
    );
    expect([status, status === 0 ? '' : output], JSON.stringify(one)).toEqual([0, '']);
  }
}, 120_000);

test('a generated client does not show an error reported by the bot as a connection error', async () => {
  const [one] = cases;
  if (one === undefined) throw new Error('there are no cases');
  for (const { path, text } of clientOf(one).filter((file) => /src\/(error-messages|config)\.ts$/.test(file.path))) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), text);
  }
  const { errorMessage } = await import(join(directory, 'client/src/error-messages.ts'));
  expect(errorMessage({ error: 'Error code: 401 - wrong key\nTraceback', fatal: false })).toBe(
    'The bot reports an error: Error code: 401 - wrong key',
  );
  expect(errorMessage({})).toBe('The bot cannot be reached.');
  expect(errorMessage(new TypeError('Failed to fetch'))).toMatch(/^The bot cannot be reached at http/);
  expect(errorMessage({ message: 'a start was refused', error: 'refused' })).toBe('a start was refused');
});

test.each(cases)(
  'a $framework client (server: $server, transports: $transports) depends on no packages of other transports',
  (one) => {
    const files = clientOf(one);
    const textOf = (path: string) => files.find((file) => file.path === path)?.text ?? '';
    const { dependencies, devDependencies } = JSON.parse(textOf('client/package.json'));
    for (const [transport, name] of Object.entries(packages)) {
      expect(Object.hasOwn(dependencies, name)).toBe(one.transports.includes(transport));
      expect(textOf('client/src/transports.ts').includes(`import('${name}')`)).toBe(one.transports.includes(transport));
    }
    for (const range of Object.values({ ...dependencies, ...devDependencies }))
      expect(range).toMatch(/^[~^]\d+\.\d+\.\d+$/);
    const paths = files.map(({ path }) => path);
    expect(paths.includes('client/src/app/api/sessions/[sessionId]/[...path]/route.ts')).toBe(
      one.server === 'nextjs' && one.transports.includes('lightrtc'),
    );
    // If the client has its own server, the page must not contain the API key.
    const page = files.filter(
      ({ path }) => !path.includes('/api/') && !path.endsWith('bot-service.ts') && path.endsWith('.ts'),
    );
    expect(page.some(({ text }) => text.includes('PUBLIC_API_KEY'))).toBe(one.server === 'vite');
  },
);
