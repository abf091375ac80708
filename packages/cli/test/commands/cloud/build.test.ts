import { createApiError } from '@bothost/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeService, startFakeService } from '../../fake-service/fake-service.ts';
import { privateKey, publicKey, successfulBuild } from '../../fake-service/records.ts';
import { runProgram } from '../../run-program.ts';

const lines = ['2026-11-20T17:00:00.000Z installing', '2026-11-20T17:00:01.000Z \u001b[32mdone\u001b[0m\u001b[2J'];
let service: FakeService;
let found: typeof successfulBuild;
let isOver: boolean;
let canceled: typeof successfulBuild;

beforeEach(async () => {
  found = successfulBuild;
  isOver = true;
  canceled = {
    ...successfulBuild,
    status: 'canceled',
    errorMessage: 'The build was canceled.',
    errorCode: 'build-canceled',
  };
  service = await startFakeService(
    { privateKey, publicKey },
    {
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
    },
  );
});
afterEach(() => service.close());

const run = (line: string, given = {}) =>
  runProgram(['cloud', 'build', ...line.split(' ')], {
    variables: { BOTCLI_API_URL: service.origin, BOTCLI_TOKEN: privateKey },
    ...given,
  });

test('list sends the filters, and prints one row per build and the option for the next page', async () => {
  const { status, stdout, stderr } = await run('list --status success -r us-west -n 10');
  expect(service.requests.at(-1)?.query).toEqual({ limit: '10', status: 'success', region: 'us-west' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: 'Next page: --cursor more\n' });
  expect(stdout).toBe(
    `Build id\tStatus\tRegion\tDuration\tArchive\tContent\tCreated\n${[successfulBuild.id, 'success', 'us-west', '2s', '2048', successfulBuild.contentHash, successfulBuild.createdAt].join('\t')}\n`,
  );
  expect(JSON.parse((await run('list --json')).stdout)).toMatchObject({ builds: [successfulBuild], total: 12 });
});

test('status shows why a build failed and which command shows its log', async () => {
  expect((await run(`status ${successfulBuild.id}`)).stdout).toContain(
    `Deploy it\tbotcli cloud deploy NAME --build-id ${successfulBuild.id}\n`,
  );
  found = {
    ...successfulBuild,
    status: 'failed',
    errorMessage: 'The archive holds /etc/passwd.',
    errorCode: 'archive-absolute-path',
  };
  const { stdout } = await run(`status ${successfulBuild.id}`);
  expect(stdout).toContain('Error\tThe archive holds /etc/passwd.\nError code\tarchive-absolute-path\n');
  expect(stdout).toContain(`Read its log\tbotcli cloud build logs ${successfulBuild.id}\n`);
  expect(await run('status unknown')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('Build "unknown" does not exist.'),
  });
});

test('status prints the output of a failed build command line by line', async () => {
  const errorMessage = '"npm install" failed with status 1.\nnpm error code E404\nnpm error 404 no-such-package';
  found = { ...successfulBuild, status: 'failed', errorMessage, errorCode: 'prepare-failed' };
  const { stdout } = await run(`status ${successfulBuild.id}`);
  expect(stdout).toContain('Error\t"npm install" failed with status 1.\nError code\tprepare-failed\n');
  expect(stdout).toContain('Last output\tnpm error code E404\nLast output\tnpm error 404 no-such-package\n');
  expect(JSON.parse((await run(`status ${successfulBuild.id} --json`)).stdout)).toMatchObject({ errorMessage });
});

test('logs prints the available lines without escape sequences', async () => {
  isOver = false;
  const { stdout } = await run(`logs ${successfulBuild.id}`);
  expect(stdout).toBe('2026-11-20T17:00:00.000Z\tinstalling\n');
  const rich = await run(`logs ${successfulBuild.id} --follow`, { terminal: true, signal: AbortSignal.abort() });
  expect(rich.status).toBe(130);
});

test('logs --full requests the log with the details of each package', async () => {
  await run(`logs ${successfulBuild.id} --full --follow`);
  expect(new Set(service.requests.map(({ query }) => query?.['full']))).toEqual(new Set(['true']));
  await run(`logs ${successfulBuild.id}`);
  expect(service.requests.at(-1)?.query).not.toHaveProperty('full');
});

test('logs --follow prints lines until the build ends, with --json one document per line', async () => {
  const plain = await run(`logs ${successfulBuild.id} --follow`);
  expect(plain).toMatchObject({ status: 0, stderr: '' });
  expect(plain.stdout).toBe('2026-11-20T17:00:00.000Z\tinstalling\n2026-11-20T17:00:01.000Z\tdone\n');
  const { stdout } = await run(`logs ${successfulBuild.id} --follow --json`);
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).timestamp),
  ).toEqual(lines.map((line) => line.split(' ')[0]));
  const rich = await run(`logs ${successfulBuild.id} -f`, { terminal: true });
  expect(rich.stdout).toContain('\u001b[32mdone\u001b[0m');
  expect(rich.stdout).not.toContain('\u001b[2J');
});

test('cancel shows a queued build as canceled without waiting', async () => {
  found = canceled;
  const { status, stdout } = await run(`cancel ${successfulBuild.id}`);
  expect({ status, stdout }).toEqual({ status: 0, stdout: `Build\t${successfulBuild.id}\nStatus\tcanceled\n` });
  expect(service.requests.map(({ path }) => path)).toEqual([`/v1/builds/${successfulBuild.id}/cancel`]);
});

test('cancel waits until a running build has stopped', async () => {
  found = { ...successfulBuild, status: 'building' };
  const reads = () => service.requests.filter(({ path }) => path.endsWith('/logs')).length;
  isOver = false;
  const canceling = run(`cancel ${successfulBuild.id} --json`);
  await expect.poll(reads).toBeGreaterThan(1);
  found = canceled;
  isOver = true;
  expect(JSON.parse((await canceling).stdout)).toMatchObject({ id: successfulBuild.id, status: 'canceled' });
});

test('cancel fails if the build has already ended, or ends before the cancellation takes effect', async () => {
  expect(await run(`cancel ${successfulBuild.id}`)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('The build has already ended, so it cannot be canceled.'),
  });
  found = { ...successfulBuild, status: 'building' };
  isOver = false;
  const canceling = run(`cancel ${successfulBuild.id}`);
  await expect.poll(() => service.requests.some(({ path }) => path.endsWith('/logs'))).toBe(true);
  found = { ...successfulBuild, status: 'failed' };
  isOver = true;
  expect(await canceling).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('ended with status failed before it could be canceled'),
  });
  expect(await run('cancel unknown')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('Build "unknown" does not exist.'),
  });
});
