import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type BuildOutputHandler,
  ProjectPreparationError,
  ProjectPreparationTimeoutError,
  type Runtime,
} from '@bothost/runtime';
import { openTreeRemover } from '@bothost/runtime/remove-tree';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createArchive } from '../../test/support/archive.ts';
import { insertTestBuild } from '../../test/support/build-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { newId } from '../store/uuid.ts';
import { type BuildDirectories, createBuildDirectories } from './build-directories.ts';
import { createBuildLogNotifier } from './build-log-notifier.ts';
import { cancelBuild } from './cancel.ts';
import { readBuildLog } from './read-log.ts';
import { type BuildRow, reopenBuildsOfUpload } from './rows.ts';
import { type BuildWorker, type BuildWorkerContext, createBuildWorker } from './worker.ts';

let organizationId: string;
let folder: string;
let directories: BuildDirectories;
const workers: BuildWorker[] = [];

const rows = await useTestRows();
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bothost-builds-'));
  directories = await createBuildDirectories(
    folder,
    openTreeRemover({ quarantineDirectory: join(folder, 'quarantine'), logger: pino({ level: 'silent' }) }),
  );
  organizationId = await rows.organization();
});
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.close();
  await rows.db.deleteFrom('builds').execute();
  await rm(folder, { recursive: true, force: true });
});

async function newBuild(bytes = createArchive({ path: 'index.js', body: 'x' })): Promise<BuildRow> {
  const build = await insertTestBuild(rows.db, organizationId, { content_hash: newId(), size_bytes: bytes.length });
  await writeFile(directories.archive(build.upload_id), bytes);
  return build;
}

/** A fake project preparation: the test writes its output and decides whether it succeeds or fails. */
type PendingPreparation = {
  readonly spec: Parameters<Runtime['prepare']>[0];
  readonly say: BuildOutputHandler;
  readonly succeed: () => void;
  readonly fail: (error: Error) => void;
};

function inHand() {
  const begun: PendingPreparation[] = [];
  const wanted: (() => void)[] = [];
  const prepare: Runtime['prepare'] = (spec, say, signal) =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
      begun.push({ spec, say, succeed: () => resolve({ project: spec.id }), fail: reject });
      for (const resolve of wanted.splice(0)) resolve();
    });
  const next = async (index: number): Promise<PendingPreparation> => {
    for (;;) {
      const found = begun[index];
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => wanted.push(resolve));
    }
  };
  return { prepare, begun, next };
}

async function work(prepare: Runtime['prepare'], fields: Partial<BuildWorkerContext> = {}) {
  const buildLogs = createBuildLogNotifier();
  const over = new Set<string>();
  const waiting = new Set<() => void>();
  const context = { db: rows.db, now: () => new Date(), buildLogs, canceled: new AbortController().signal };
  const worker = createBuildWorker({
    ...context,
    runtime: { prepare },
    directories,
    disk: { require: () => undefined },
    timeoutSeconds: 60,
    logger: pino({ level: 'silent' }),
    host: { region: 'us-west' },
    retryWrite: (write) => write(),
    holdsRegion: () => true,
    isDraining: () => false,
    buildsAtOnce: 1,
    onEnded: ({ id, seconds }) => {
      expect(seconds).toBeGreaterThanOrEqual(0);
      over.add(id);
      for (const resolve of waiting) resolve();
    },
    ...fields,
  });
  workers.push(worker);
  await worker.start();
  return {
    worker,
    buildLogs,
    cancel: (id: string, scope = { organizationId }) =>
      cancelBuild(context, { ...scope, keyId: null, serviceUrl: 'http://localhost' }, id),
    follow: (id: string, nextToken?: string, full: 'true' | 'false' = 'false') =>
      readBuildLog(context, { organizationId }, id, {
        limit: 500,
        wait: 20,
        full,
        ...(nextToken === undefined ? {} : { nextToken }),
      }),
    over: async (id: string) => {
      while (!over.has(id)) {
        await new Promise<void>((resolve) => {
          waiting.add(resolve);
        });
      }
      return find(id);
    },
  };
}

/** A clock that advances by one minute per call, which is longer than every retry delay. */
function fastClock() {
  let minutes = 0;
  return () => new Date(Date.now() + ++minutes * 60_000);
}

const find = (id: string) => rows.find('builds', id);

describe('a build', () => {
  it('unpacks and prepares the project, and stores the result of the preparation', async () => {
    const build = await newBuild();
    const { prepare, next } = inHand();
    const { over } = await work(prepare);
    const { spec, succeed } = await next(0);
    const { content_hash: contentHash } = build;
    expect(spec).toEqual({
      id: build.id,
      source: { kind: 'build', path: directories.tree(build.id), contentHash, organizationId },
    });
    expect(await readFile(join(directories.tree(build.id), 'index.js'), 'utf8')).toBe('x');
    expect(await find(build.id)).toMatchObject({ state: 'building', prepared: null, completed_at: null });
    succeed();
    expect(await over(build.id)).toMatchObject({ state: 'success', prepared: { project: build.id } });
    expect(await directories.treeIds()).toEqual([]);
  });

  it('sends each log line to followers at once, and disconnects them when the build ends', async () => {
    const build = await newBuild();
    const { prepare, next } = inHand();
    const { follow, over } = await work(prepare);
    const { say, succeed } = await next(0);
    const begun = await follow(build.id);
    expect(begun.nextToken).toBeDefined();
    let page = begun;
    const hear = async (text: string) => {
      say(text);
      while (!page.logs.some((line) => line.endsWith(text))) page = await follow(build.id, page.nextToken);
    };
    await hear('installing this');
    await hear('installing that');
    const rest = follow(build.id, page.nextToken);
    succeed();
    await over(build.id);
    expect((await rest).logs.at(-1)).toMatch(/Ready after/);
    const last = await follow(build.id, (await rest).nextToken);
    expect(last.nextToken).toBeUndefined();
  });

  it('shows detailed output only to clients that request the full log', async () => {
    const build = await newBuild();
    const { prepare, next } = inHand();
    const { over, follow } = await work(prepare);
    const { say, succeed } = await next(0);
    say('Collecting a', true);
    say('Installed 1 package');
    succeed();
    await over(build.id);
    const textsOf = async (full: 'true' | 'false') =>
      (await follow(build.id, undefined, full)).logs.map((line) => line.replace(/^\S+ /, ''));
    const all = await textsOf('true');
    expect(all).toEqual(expect.arrayContaining(['Collecting a', 'Installed 1 package']));
    expect(await textsOf('false')).toEqual(all.filter((text) => text !== 'Collecting a'));
  });

  it('disconnects followers of its log when the service closes', async () => {
    const build = await newBuild();
    const { prepare, next } = inHand();
    const { buildLogs, follow } = await work(prepare);
    await next(0);
    const { nextToken } = await follow(build.id);
    const canceled = new AbortController();
    const at = new Date();
    // A clock that never reaches the deadline.
    const context = { db: rows.db, now: () => at, buildLogs, canceled: canceled.signal };
    const query = { limit: 500, wait: 20, full: 'false', ...(nextToken === undefined ? {} : { nextToken }) } as const;
    const page = readBuildLog(context, { organizationId }, build.id, query);
    canceled.abort();
    expect((await page).nextToken).toBeDefined();
  });

  it('fails with the error message of the runtime if the preparation fails', async () => {
    const build = await newBuild();
    const { prepare, next } = inHand();
    const { over } = await work(prepare);
    (await next(0)).fail(new ProjectPreparationError('No [start] file.'));
    expect(await over(build.id)).toMatchObject({
      state: 'failed',
      error_code: 'prepare-failed',
      error: 'No (start) file.',
      prepared: null,
    });
  });

  it('shortens a long error message and removes its control characters', async () => {
    const build = await newBuild();
    const { over } = await work(() =>
      Promise.reject(new ProjectPreparationError(`a\0b \u001b[31mred\u001b[0m\nc${'d'.repeat(9_000)}`)),
    );
    const { state, error_code: code, error } = await over(build.id);
    expect({ state, code }).toEqual({ state: 'failed', code: 'prepare-failed' });
    expect(error).toMatch(/^ab red\ncd{7992}$/);
  });

  it('fails when its timeout expires', async () => {
    const build = await newBuild();
    const { prepare } = inHand();
    const { over } = await work(prepare, { timeoutSeconds: 1 });
    expect(await over(build.id)).toMatchObject({
      state: 'timeout',
      error_code: 'build-timeout',
      error: 'The build took longer than 1 seconds.',
    });
    expect(await directories.treeIds()).toEqual([]);
  });

  it('fails with build-timeout when the runtime reports a timeout', async () => {
    const build = await newBuild();
    const { over } = await work(() => Promise.reject(new ProjectPreparationTimeoutError('Not within 60 seconds.')));
    expect(await over(build.id)).toMatchObject({ state: 'timeout', error_code: 'build-timeout' });
  });

  it('is retried after a failure of the service', async () => {
    const build = await newBuild();
    const { prepare, next } = inHand();
    const { over } = await work(prepare, { now: fastClock() });
    (await next(0)).fail(new Error('disk full'));
    (await next(1)).succeed();
    expect(await over(build.id)).toMatchObject({ state: 'success', error: null });
  });

  it('fails with code internal and without details if the service keeps failing', async () => {
    const build = await newBuild();
    const prepare: Runtime['prepare'] = () => Promise.reject(new Error('secret detail'));
    const { over } = await work(prepare, { now: fastClock() });
    const failed = await over(build.id);
    expect(failed).toMatchObject({ state: 'failed', error_code: 'internal' });
    const log = await rows.db.selectFrom('build_log_lines').select('text').where('build_id', '=', build.id).execute();
    expect(JSON.stringify([failed.error, log])).not.toContain('secret detail');
  });
});

describe('a build fails with an error code', () => {
  it('if its result cannot be stored after several attempts', async () => {
    const build = await newBuild();
    let attempts = 0;
    const prepare: Runtime['prepare'] = async () => {
      attempts += 1;
      // Storing this result fails, because a bigint cannot be written as JSON.
      return { project: 1n } as never;
    };
    const { over } = await work(prepare, { now: fastClock() });
    expect(await over(build.id)).toMatchObject({ state: 'failed', error_code: 'internal', prepared: null });
    expect(attempts).toBe(5);
  });

  it('if the disk of the service stays full', async () => {
    const build = await newBuild();
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const { over } = await work(() => Promise.reject(full), { now: fastClock() });
    expect(await over(build.id)).toMatchObject({ state: 'failed', error_code: 'storage-full' });
  });

  it('if its archive is missing', async () => {
    const build = await newBuild();
    await rm(directories.archive(build.upload_id));
    const { over } = await work(inHand().prepare);
    expect(await over(build.id)).toMatchObject({ state: 'failed', error_code: 'archive-lost' });
  });
});

describe('the build worker', () => {
  it('starts the oldest build when a slot becomes free', async () => {
    const [first, second] = [await newBuild(), await newBuild()];
    const { prepare, next, begun } = inHand();
    const { over } = await work(prepare);
    const one = await next(0);
    expect(one.spec.id).toBe(first.id);
    expect(await find(second.id)).toMatchObject({ state: 'pending', started_at: null });
    expect(begun).toHaveLength(1);
    one.succeed();
    await over(first.id);
    (await next(1)).succeed();
    expect((await over(second.id)).state).toBe('success');
  });

  it('restarts the builds of a killed server, and replaces their unfinished source directories', async () => {
    const build = await newBuild();
    const before = inHand();
    const { worker } = await work(before.prepare);
    await before.next(0);
    await worker.close();
    expect(await find(build.id)).toMatchObject({ state: 'building', completed_at: null });
    // Create the unfinished directory that a killed server leaves.
    await mkdir(`${directories.tree(build.id)}.partial`);
    await mkdir(directories.tree(build.id));
    await writeFile(join(directories.tree(build.id), 'half'), '');
    const after = inHand();
    const { over, follow } = await work(after.prepare);
    const { succeed } = await after.next(0);
    expect(await readdir(directories.tree(build.id))).toEqual(['index.js']);
    succeed();
    expect((await over(build.id)).state).toBe('success');
    expect((await follow(build.id)).logs.join('\n')).toContain('restarted');
    expect(await directories.treeIds()).toEqual([]);
  });

  it('starts no build for another region, during a shutdown, or while the server does not hold the lock of its region', async () => {
    const build = await newBuild();
    const { prepare, begun } = inHand();
    const poll = async (fields: Partial<BuildWorkerContext>) => {
      let resolvePolled: () => void = () => undefined;
      const asked = new Promise<void>((resolve) => {
        resolvePolled = resolve;
      });
      const holdsRegion = () => {
        resolvePolled();
        return fields.holdsRegion?.() ?? true;
      };
      const { worker } = await work(prepare, { ...fields, holdsRegion });
      await asked;
      await worker.close();
    };
    await poll({ holdsRegion: () => false });
    await poll({ isDraining: () => true });
    await poll({ host: { region: 'us-east' } });
    expect(begun).toEqual([]);
    expect((await find(build.id)).state).toBe('pending');
    expect(existsSync(directories.tree(build.id))).toBe(false);
  });
});

describe('canceling a build', () => {
  it('ends a waiting build immediately', async () => {
    const [first, second] = [await newBuild(), await newBuild()];
    const { prepare, next, begun } = inHand();
    const { cancel, follow, over } = await work(prepare);
    const { succeed } = await next(0);
    expect(await cancel(second.id)).toMatchObject({
      build: {
        status: 'canceled',
        errorCode: 'build-canceled',
        errorMessage: 'The build was canceled.',
        startedAt: null,
      },
    });
    expect((await follow(second.id)).nextToken).toBeUndefined();
    succeed();
    await over(first.id);
    expect(begun).toHaveLength(1);
  });

  it('stops a running build on another server, and ends the followers of its log', async () => {
    const build = await newBuild();
    const { prepare, next } = inHand();
    const { cancel, follow, over } = await work(prepare);
    await next(0);
    const { nextToken } = await follow(build.id);
    expect((await cancel(build.id)).build).toMatchObject({ status: 'building', completedAt: null });
    expect(await over(build.id)).toMatchObject({ state: 'canceled', error_code: 'build-canceled', prepared: null });
    const { logs, nextToken: more } = await follow(build.id, nextToken);
    expect(logs.at(-1)).toMatch(/The build was canceled\.$/);
    expect(more).toBeUndefined();
    expect(existsSync(directories.tree(build.id))).toBe(false);
    expect((await cancel(build.id)).build.status).toBe('canceled');
  });

  it('allows a new build of the same content while the canceled build is being stopped', async () => {
    const build = await newBuild();
    const { prepare, next } = inHand();
    const { cancel, over } = await work(prepare);
    await next(0);
    await cancel(build.id);
    const { content_hash, size_bytes } = build;
    const again = await insertTestBuild(rows.db, organizationId, { content_hash, size_bytes });
    await writeFile(directories.archive(again.upload_id), createArchive({ path: 'index.js', body: 'x' }));
    (await next(1)).succeed();
    expect((await over(again.id)).state).toBe('success');
    expect((await over(build.id)).state).toBe('canceled');
  });

  it('has no effect if the build succeeds before it is stopped', async () => {
    const build = await newBuild();
    const begun = new EventTarget();
    const isBegun = once(begun, 'prepare');
    const prepare: Runtime['prepare'] = ({ id }, _, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ project: id }));
        begun.dispatchEvent(new Event('prepare'));
      });
    const { cancel, over } = await work(prepare);
    await isBegun;
    await cancel(build.id);
    expect(await over(build.id)).toMatchObject({ state: 'success', prepared: { project: build.id } });
    await expect(cancel(build.id)).rejects.toMatchObject({ reason: 'build-ended' });
    // This build succeeded despite a cancel request. A repeated upload must not reopen the build, because the next poll would
    // cancel it.
    await reopenBuildsOfUpload(rows.db, build.upload_id, new Date());
    expect((await find(build.id)).state).toBe('success');
  });

  it('ends the build as canceled even if its server died before it stopped the build', async () => {
    const build = await newBuild();
    const before = inHand();
    const { cancel, worker } = await work(before.prepare);
    await before.next(0);
    await worker.close();
    await cancel(build.id);
    const after = inHand();
    const { over } = await work(after.prepare);
    expect((await over(build.id)).state).toBe('canceled');
    expect(after.begun).toEqual([]);
  });
});

describe('a build that a server was running', () => {
  /**
   * Starts a server, waits until it runs a build, and ends the server. A server that `died` writes nothing to the
   * database.
   */
  async function interrupt(how: 'died' | 'stopped') {
    let isAlive = true;
    const { prepare, next } = inHand();
    const { worker } = await work(prepare, { holdsRegion: () => isAlive });
    await next(0);
    if (how === 'died') isAlive = false;
    await worker.close();
  }

  it('fails, and is not started a third time, if two servers died while they ran it', async () => {
    const build = await newBuild();
    await interrupt('died');
    await interrupt('died');
    const { prepare, begun } = inHand();
    const { over, follow } = await work(prepare);
    expect(await over(build.id)).toMatchObject({
      state: 'failed',
      error_code: 'build-interrupted',
      error: expect.stringContaining('stopped unexpectedly twice'),
    });
    expect((await follow(build.id)).logs.at(-1)).toContain('stopped unexpectedly twice');
    expect(begun).toEqual([]);
  });

  it('is restarted after each shutdown of its server', async () => {
    const build = await newBuild();
    await interrupt('died');
    for (const how of ['stopped', 'stopped', 'stopped'] as const) await interrupt(how);
    const { prepare, next } = inHand();
    const { over } = await work(prepare);
    (await next(0)).succeed();
    expect(await over(build.id)).toMatchObject({ state: 'success', unfinished_attempts: 0 });
  });
});
