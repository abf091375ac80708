import { createApiError } from '@bothost/contract';
import { beforeEach, expect, test } from 'vitest';
import { successfulBuild } from '../../fake-service/records.ts';
import { startServiceWith, useCommands } from '../use-commands.ts';

const lines = ['2026-11-20T17:00:00.000Z installing', '2026-11-20T17:00:01.000Z \u001b[32mdone\u001b[0m\u001b[2J'];
let found: typeof successfulBuild;
let isOver: boolean;
const canceled: typeof successfulBuild = {
  ...successfulBuild,
  status: 'canceled',
  errorMessage: 'The build was canceled.',
  errorCode: 'build-canceled',
};

const commands = useCommands('cloud build', () =>
  startServiceWith({
    listBuilds: () => ({ builds: [successfulBuild], total: 12, limit: 10, offset: 0, nextCursor: 'more' }),
    getBuild: ({ params }) => {
      if (params['buildId'] !== successfulBuild.id) throw createApiError('build-not-found');
      return { build: found };
    },
    cancelBuild: ({ params }) => {
      if (params['buildId'] !== successfulBuild.id) throw createApiError('build-not-found');
      if (found.status === 'success') throw createApiError('build-ended');
      return { build: found };
    },
    getBuildLogs: ({ query }) => {
      const from = Number(query['nextToken'] ?? 0);
      const waits = query['wait'] !== undefined;
      const logs = lines.slice(from, waits ? from + 1 : 1);
      const end = from + logs.length;
      return end >= lines.length && isOver ? { logs } : { logs, nextToken: String(end) };
    },
  }),
);
const { run } = commands;

beforeEach(() => {
  found = successfulBuild;
  isOver = true;
});

test('list sends the filters, and prints one row per build and the option for the next page', async () => {
  const { status, stdout, stderr } = await run('list --status success -r us-west -n 10');
  expect(commands.service.requests.at(-1)?.query).toEqual({ limit: '10', status: 'success', region: 'us-west' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: 'Next page: --cursor more\n' });
  expect(stdout).toBe(
    `Build id\tStatus\tRegion\tDuration\tArchive\tContent\tCreated\n${[successfulBuild.id, 'success', 'us-west', '2s', '2048', successfulBuild.contentHash, successfulBuild.createdAt].join('\t')}\n`,
  );
  await run('list --json', { json: { builds: [successfulBuild], total: 12 } });
});

test('status shows why a build failed and which command shows its log', async () => {
  await run(`status ${successfulBuild.id}`, {
    stdout: `Deploy it\tbotcli cloud deploy NAME --build-id ${successfulBuild.id}\n`,
  });
  found = {
    ...successfulBuild,
    status: 'failed',
    errorMessage: 'The archive holds /etc/passwd.',
    errorCode: 'archive-absolute-path',
  };
  await run(`status ${successfulBuild.id}`, {
    stdout: [
      'Error\tThe archive holds /etc/passwd.\nError code\tarchive-absolute-path\n',
      `Read its log\tbotcli cloud build logs ${successfulBuild.id}\n`,
    ],
  });
  await run('status unknown', { status: 1, stderr: 'Build "unknown" does not exist.' });
});

test('status prints the output of a failed build command line by line', async () => {
  const errorMessage = '"npm install" failed with status 1.\nnpm error code E404\nnpm error 404 no-such-package';
  found = { ...successfulBuild, status: 'failed', errorMessage, errorCode: 'prepare-failed' };
  await run(`status ${successfulBuild.id}`, {
    stdout: [
      'Error\t"npm install" failed with status 1.\nError code\tprepare-failed\n',
      'Last output\tnpm error code E404\nLast output\tnpm error 404 no-such-package\n',
    ],
  });
  await run(`status ${successfulBuild.id} --json`, { json: { errorMessage } });
});

test('logs prints the available lines without escape sequences', async () => {
  isOver = false;
  await run(`logs ${successfulBuild.id}`, { wholeStdout: '2026-11-20T17:00:00.000Z\tinstalling\n' });
  await run(`logs ${successfulBuild.id} --follow`, { status: 130 }, { terminal: true, signal: AbortSignal.abort() });
});

test('logs --full requests the log with the details of each package', async () => {
  await run(`logs ${successfulBuild.id} --full --follow`);
  expect(new Set(commands.service.requests.map(({ query }) => query?.['full']))).toEqual(new Set(['true']));
  await run(`logs ${successfulBuild.id}`);
  expect(commands.service.requests.at(-1)?.query).not.toHaveProperty('full');
});

test('logs --follow prints lines until the build ends, with --json one document per line', async () => {
  await run(`logs ${successfulBuild.id} --follow`, {
    wholeStdout: '2026-11-20T17:00:00.000Z\tinstalling\n2026-11-20T17:00:01.000Z\tdone\n',
    wholeStderr: '',
  });
  const { stdout } = await run(`logs ${successfulBuild.id} --follow --json`);
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).timestamp),
  ).toEqual(lines.map((line) => line.split(' ')[0]));
  await run(
    `logs ${successfulBuild.id} -f`,
    { stdout: '\u001b[32mdone\u001b[0m', hides: '\u001b[2J' },
    { terminal: true },
  );
});

test('cancel shows a queued build as canceled without waiting', async () => {
  found = canceled;
  await run(`cancel ${successfulBuild.id}`, { wholeStdout: `Build\t${successfulBuild.id}\nStatus\tcanceled\n` });
  expect(commands.service.requests.map(({ path }) => path)).toEqual([`/v1/builds/${successfulBuild.id}/cancel`]);
});

test('cancel waits until a running build has stopped', async () => {
  found = { ...successfulBuild, status: 'building' };
  const reads = () => commands.service.requests.filter(({ path }) => path.endsWith('/logs')).length;
  isOver = false;
  const canceling = run(`cancel ${successfulBuild.id} --json`);
  await expect.poll(reads).toBeGreaterThan(1);
  found = canceled;
  isOver = true;
  expect(JSON.parse((await canceling).stdout)).toMatchObject({ id: successfulBuild.id, status: 'canceled' });
});

test('cancel fails if the build has already ended, or ends before the cancellation takes effect', async () => {
  await run(`cancel ${successfulBuild.id}`, {
    status: 1,
    stderr: 'The build has already ended, so it cannot be canceled.',
  });
  found = { ...successfulBuild, status: 'building' };
  isOver = false;
  const canceling = run(`cancel ${successfulBuild.id}`);
  await expect.poll(() => commands.service.requests.some(({ path }) => path.endsWith('/logs'))).toBe(true);
  found = { ...successfulBuild, status: 'failed' };
  isOver = true;
  expect(await canceling).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('ended with status failed before it could be canceled'),
  });
  await run('cancel unknown', { status: 1, stderr: 'Build "unknown" does not exist.' });
});
