import type { Database, VaultFinding } from '../../store/tables.ts';
import { countWrapped, rewrapKeys } from '../vault/rekey.ts';
import type { Advance, Swept, UpkeepContext } from './context.ts';
import { reencrypt } from './reencrypt.ts';
import { countSealed, findOrganization, organizationsWithKeys } from './rows.ts';
import { isTaskTrue, proveTask, proveTasksAnew, taskChanged } from './task-proof.ts';
import { reachOrganization, type TaskRow, updateTask } from './task-rows.ts';
import { tellOrganizations } from './upkeep-audit.ts';
import { type PinnedIn, type PinsOf, verifyVault } from './verify.ts';
import { countSets } from './verify-rows.ts';

export type WorkContext = UpkeepContext & {
  readonly pinsOf: PinsOf;
  readonly pinnedIn: PinnedIn;
  /** Aborted when the service goes down: the next server goes on. */
  readonly signal: AbortSignal;
};

/** How far work is; where it ends, what it found. */
type Round = { readonly isOver: boolean; readonly findings: readonly VaultFinding[] };

/**
 * Does one time around of a task that was asked for; true when the task is done then. What is left to do is read from what
 * is stored, so a server that was killed, and another one beside this, goes on where it was. What does not open stays as it
 * is and is told in the findings.
 */
export async function workOn(context: WorkContext, task: TaskRow): Promise<boolean> {
  const isTrue = await isTaskTrue(context, task);
  // Nobody knows what was asked for. But keys of two root keys come to one again, whoever asked.
  if (!isTrue && task.task !== 'rekey') {
    await end(context, task, task.total, [taskChanged]);
    return true;
  }
  const { total, behind } = await extent(context, task);
  let done = Math.max(0, total - behind);
  const advance: Advance = async (count) => {
    context.signal.throwIfAborted();
    done = Math.min(total, done + count);
    await updateTask(context.db, task.id, { done, updated_at: context.now() });
  };
  await updateTask(context.db, task.id, { done, total, updated_at: context.now() });
  const { isOver, findings } = await rounds[task.task](context, task, advance);
  if (!isOver) return false;
  await end(context, task, total, isTrue ? findings : [taskChanged, ...findings]);
  return true;
}

async function end(context: WorkContext, task: TaskRow, total: number, found: readonly VaultFinding[]): Promise<void> {
  // Before it is done: a server that comes after one that dies in between goes on with it.
  if (task.task === 'rekey') await proveTasksAnew(context);
  const at = context.now();
  const findings = found.slice(0, findingsKept);
  const change = { state: 'done', done: total, total, findings, ended_at: at } as const;
  const proof = await proveTask(context, { ...task, ...change });
  const told = JSON.stringify(findings);
  await updateTask(context.db, task.id, { ...change, findings: told, updated_at: at, ...proof });
}

/** More of them say nothing new. */
const findingsKept = 1_000;

const rounds: Readonly<
  Record<TaskRow['task'], (context: WorkContext, task: TaskRow, advance: Advance) => Promise<Round>>
> = {
  rekey: async (context, _, advance) => {
    const broken = await rewrapKeys(context, advance);
    const findings = await Promise.all(
      broken.map(async ({ organization_id: id, purpose, version, problem }) => ({
        organization: (await findOrganization(context.db, id))?.name ?? id,
        set: null,
        problem: `the ${purpose} key of version ${version}: ${problem}`,
      })),
    );
    return { isOver: (await countWrapped(context.db)).behind <= broken.length, findings };
  },
  rotate: async (context, task, advance) => {
    for (const { id } of (await rotated(context.db, task)).left) {
      await rotateOne(context, task, id);
      await advance(1);
    }
    return { isOver: true, findings: [] };
  },
  reencrypt: async (context, _, advance) => {
    const { findings, broken }: Swept = await reencrypt(context, advance);
    const { valuesBehind, setsBehind, pinsBehind } = await countSealed(context.db);
    return { isOver: valuesBehind + setsBehind + pinsBehind <= broken, findings };
  },
  verify: async (context, task, advance) => {
    return { isOver: true, findings: await verifyVault(context, task.organization_id, advance) };
  },
};

/** How many organizations a task gives new keys, and those that are left of them, by their ids. No clock is asked. */
async function rotated(db: Database, { organization_id: only, reached }: TaskRow) {
  const all = (await organizationsWithKeys(db)).filter(({ id }) => only === null || only === id);
  const left = all.filter(({ id }) => reached === null || id > reached).sort((a, b) => (a.id < b.id ? -1 : 1));
  return { total: all.length, left };
}

/** All keys of one organization, with their line in its log and how far the task is, at once or not at all. */
async function rotateOne(context: WorkContext, task: TaskRow, organizationId: string): Promise<void> {
  await context.db.transaction().execute(async (db) => {
    if (!(await reachOrganization(db, task.id, organizationId))) return;
    const made = await context.keyring.rotate(db, organizationId);
    if (made === 0) return;
    await tellOrganizations({ db, now: context.now }, [organizationId], { action: 'vault.rotate', result: 'done' });
  });
}

async function extent({ db }: WorkContext, task: TaskRow): Promise<{ total: number; behind: number }> {
  switch (task.task) {
    case 'rekey':
      return countWrapped(db);
    case 'rotate': {
      const { total, left } = await rotated(db, task);
      return { total, behind: left.length };
    }
    case 'reencrypt': {
      const { values, valuesBehind, sets, setsBehind, pins, pinsBehind } = await countSealed(db);
      return { total: values + sets + pins, behind: valuesBehind + setsBehind + pinsBehind };
    }
    case 'verify': {
      const total = await countSets(db, task.organization_id);
      return { total, behind: total };
    }
  }
}
