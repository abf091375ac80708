import type { VaultFinding } from '../../store/tables.ts';
import { countWrapped, rewrapKeys } from '../vault/rewrap-keys.ts';
import type { Advance, MaintenanceContext, PinsOf } from './context.ts';
import { organizationName } from './organizations.ts';
import { reencrypt } from './reencrypt.ts';
import { countSetsBehind } from './reencrypt-rows.ts';
import { type TaskRow, updateTask } from './task-rows.ts';
import { verifyVault } from './verify.ts';

export type TaskContext = MaintenanceContext & {
  readonly pinsOf: PinsOf;
  /** Aborted when the service stops; the next server continues. */
  readonly signal: AbortSignal;
};

/** `isDone`: nothing is left but what has a finding. */
type Pass = { readonly isDone: boolean; readonly findings: readonly VaultFinding[] };

const maxFindings = 1_000;

/**
 * Runs one pass of a task; returns whether the task is done. The remaining work is read from the stored data, so the next
 * server continues after a kill, and two servers share the work. Damaged data stays unchanged and becomes a finding.
 */
export async function runTask(context: TaskContext, task: TaskRow): Promise<boolean> {
  const { total, behind } = await sizes[task.task](context, task);
  let done = Math.max(0, total - behind);
  const advance: Advance = async (count) => {
    context.signal.throwIfAborted();
    done = Math.min(total, done + count);
    await updateTask(context.db, task.id, { done, updated_at: context.now() });
  };
  await updateTask(context.db, task.id, { done, total, updated_at: context.now() });
  const { isDone, findings } = await passes[task.task](context, task, advance);
  if (!isDone) return false;
  const at = context.now();
  await updateTask(context.db, task.id, {
    state: 'done',
    done: total,
    findings: JSON.stringify(findings.slice(0, maxFindings)),
    updated_at: at,
    ended_at: at,
  });
  return true;
}

const sizes: Readonly<
  Record<TaskRow['task'], (context: TaskContext, task: TaskRow) => Promise<{ total: number; behind: number }>>
> = {
  rekey: ({ db }) => countWrapped(db),
  rotate: ({ db }, task) => countSetsBehind(db, task.organization_id),
  verify: async ({ db }, task) => {
    const { total } = await countSetsBehind(db, task.organization_id);
    return { total, behind: total };
  },
};

const passes: Readonly<
  Record<TaskRow['task'], (context: TaskContext, task: TaskRow, advance: Advance) => Promise<Pass>>
> = {
  rekey: async (context, _, advance) => {
    const damaged = await rewrapKeys(context, advance);
    const findings = await Promise.all(
      damaged.map(async ({ organization_id: id, purpose, version, problem }) => ({
        organization: await organizationName(context.db, id),
        set: null,
        problem: `the ${purpose} key of version ${version}: ${problem}`,
      })),
    );
    return { isDone: (await countWrapped(context.db)).behind <= damaged.length, findings };
  },
  rotate: async (context, task, advance) => {
    const { findings, damaged } = await reencrypt(context, task.organization_id, advance);
    const { behind } = await countSetsBehind(context.db, task.organization_id);
    return { isDone: behind <= damaged, findings };
  },
  verify: async (context, task, advance) => {
    return { isDone: true, findings: await verifyVault(context, task.organization_id, advance) };
  },
};
