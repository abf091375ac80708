import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTreeRemover } from '@bothost/runtime/remove-tree';
import { pino } from 'pino';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { insertTestBuild } from '../../test/support/build-rows.ts';
import { secondsAgo, testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { findBuildsInUse } from '../agents/builds-in-use.ts';
import { newId } from '../store/uuid.ts';
import { createBuildDirectories } from './build-directories.ts';
import { lockUsableBuild } from './find.ts';
import { type BuildUseLookup, removeUnusedBuilds } from './retention.ts';

const day = 86_400;
const retention = { buildDays: 30, uploadHours: 24 };

let organizationId: string;
let discarded: unknown[];
const rows = await useTestRows();
const folder = await mkdtemp(join(tmpdir(), 'bothost-retention-'));
const directories = await createBuildDirectories(
  folder,
  openTreeRemover({ quarantineDirectory: join(folder, 'quarantine'), logger: pino({ level: 'silent' }) }),
);
beforeEach(async () => {
  discarded = [];
  await rows.db.deleteFrom('builds').execute();
  await rows.db.deleteFrom('uploads').execute();
  organizationId = await rows.organization();
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const context = () => ({
  db: rows.db,
  now: () => testNow,
  logger: pino({ level: 'silent' }),
  host: { region: 'us-west' },
  directories,
  runtime: {
    discard: async (prepared: unknown) => void discarded.push(prepared),
  },
});
const noBuildsInUse: BuildUseLookup = async () => new Set();

/** Creates a successful build, with its archive, that was last used this many days ago. */
async function oldBuild(days: number, fields: Parameters<typeof insertTestBuild>[2] = {}) {
  const at = secondsAgo(days * day);
  const build = await insertTestBuild(
    rows.db,
    organizationId,
    { content_hash: newId(), state: 'success', prepared: '{"project":"p"}', completed_at: at, used_at: at, ...fields },
    { updated_at: at },
  );
  await writeFile(directories.archive(build.upload_id), 'archive');
  return build;
}

const buildIds = async () => (await rows.db.selectFrom('builds').select('id').execute()).map(({ id }) => id);

it('removeUnusedBuilds removes an unused build with its archive and prepared project, and keeps a recently used build', async () => {
  const old = await oldBuild(31);
  const young = await oldBuild(29);
  const failed = await oldBuild(31, { state: 'failed', prepared: null });
  await removeUnusedBuilds(context(), retention, noBuildsInUse);
  expect(await buildIds()).toEqual([young.id]);
  expect(await directories.uploadIds()).toEqual([young.upload_id]);
  expect(discarded).toEqual([{ project: 'p' }]);
  expect([old.id, failed.id]).not.toContain(young.id);
});

it('removeUnusedBuilds keeps all builds if retention is 0 days, and never removes a build that is still running', async () => {
  const old = await oldBuild(1_000);
  await removeUnusedBuilds(context(), { ...retention, buildDays: 0 }, noBuildsInUse);
  expect(await buildIds()).toEqual([old.id]);
  await rows.db.updateTable('builds').set({ state: 'building', prepared: null, completed_at: null }).execute();
  await removeUnusedBuilds(context(), retention, noBuildsInUse);
  expect(await buildIds()).toEqual([old.id]);
});

it('removeUnusedBuilds keeps builds that an agent uses or can roll back to, and removes builds of deleted agents', async () => {
  const hostId = await rows.host(`region-${newId()}`);
  const agentId = await rows.agent(organizationId, { name: 'living' });
  const builds = await Promise.all(Array.from({ length: 12 }, () => oldBuild(40)));
  const deploy = (agent: string, build: string | undefined, age: number) =>
    rows.deployment(agent, {
      source: JSON.stringify({ kind: 'build', buildId: build, contentHash: 'c' }),
      build_id: build ?? null,
      created_at: secondsAgo(age),
    });
  const deployments: string[] = [];
  for (const [index, build] of builds.entries()) deployments.push(await deploy(agentId, build.id, 1_000 - index));
  const running = { agentId, deploymentId: deployments[0] ?? '', hostId };
  await rows.instance(running);
  const deleted = await rows.agent(organizationId, { name: 'deleted', deleted_at: secondsAgo(10) });
  const ofDeleted = await oldBuild(40);
  await deploy(deleted, ofDeleted.id, 5);
  await removeUnusedBuilds(context(), retention, findBuildsInUse);
  const kept = builds.map(({ id }) => id);
  // The first build has a running instance. The agent can roll back to the last ten builds. The second build is unused.
  expect((await buildIds()).sort()).toEqual([kept[0], ...kept.slice(2)].sort());
});

it('removeUnusedBuilds keeps a build that a concurrent deployment has locked', async () => {
  const build = await oldBuild(40);
  await rows.db.transaction().execute(async (transaction) => {
    const used = await lockUsableBuild(
      { db: transaction, now: () => testNow },
      { organizationId, region: 'us-west' },
      build.id,
    );
    expect(used?.prepared).toEqual({ project: 'p' });
    await removeUnusedBuilds(context(), retention, noBuildsInUse);
  });
  await removeUnusedBuilds(context(), retention, noBuildsInUse);
  expect(await buildIds()).toEqual([build.id]);
});

it('removeUnusedBuilds finishes the interrupted removal of a build; until then, the build cannot be deployed', async () => {
  const build = await oldBuild(1, { removing: true });
  const scope = { organizationId, region: 'us-west' };
  expect(await lockUsableBuild({ db: rows.db, now: () => testNow }, scope, build.id)).toBeNull();
  await removeUnusedBuilds(context(), retention, noBuildsInUse);
  expect(await buildIds()).toEqual([]);
  expect(discarded).toHaveLength(1);
});

it('removeUnusedBuilds removes expired uploads that are incomplete or have no build', async () => {
  const upload = async (hours: number, state: 'open' | 'complete') => {
    const id = newId();
    const at = secondsAgo(hours * 3600);
    const content = { content_hash: newId(), context_hash: 'c', size_bytes: 7 };
    const row = { ...content, id, organization_id: organizationId, region: 'us-west', announced: true };
    await rows.db
      .insertInto('uploads')
      .values({ ...row, state, created_at: at, updated_at: at })
      .execute();
    await writeFile(directories.archive(id), 'archive');
    return id;
  };
  const young = [await upload(23, 'open'), await upload(23, 'complete')];
  await upload(25, 'open');
  await upload(25, 'complete');
  await writeFile(directories.archive(newId()), 'orphan');
  const built = await oldBuild(10);
  await removeUnusedBuilds(context(), retention, noBuildsInUse);
  const uploads = await rows.db.selectFrom('uploads').select('id').execute();
  const expected = [...young, built.upload_id].sort();
  expect(uploads.map(({ id }) => id).sort()).toEqual(expected);
  expect((await readdir(join(folder, 'builds', 'uploads'))).sort()).toEqual(expected);
});

it('removeUnusedBuilds retries a failed removal in the next run, and still removes the other builds', async () => {
  const stuck = await oldBuild(33, { prepared: '{"project":"stuck"}' });
  await oldBuild(32);
  const unfinished = await insertTestBuild(rows.db, organizationId, {}, { updated_at: secondsAgo(2 * day) });
  await rows.db.deleteFrom('builds').where('id', '=', unfinished.id).execute();
  const discard = async (prepared: unknown) => {
    if (JSON.stringify(prepared).includes('stuck')) throw new Error('no permission');
  };
  await removeUnusedBuilds({ ...context(), runtime: { discard } }, retention, noBuildsInUse);
  expect(await buildIds()).toEqual([stuck.id]);
  const uploads = await rows.db.selectFrom('uploads').select('id').execute();
  expect(uploads).toEqual([{ id: stuck.upload_id }]);
  await removeUnusedBuilds(context(), retention, noBuildsInUse);
  expect(await buildIds()).toEqual([]);
});
