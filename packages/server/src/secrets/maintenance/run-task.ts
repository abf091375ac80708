import type { VaultDamageFinding } from '../../store/tables.ts';
import { countWrappedKeys, rewrapKeys } from '../vault/rewrap-keys.ts';
import type { MaintenanceContext, PinnedRevisionLookup, ProgressReporter } from './context.ts';
import { findOrganizationName } from './organizations.ts';
import { reencryptSets } from './reencrypt.ts';
import { countSetsWithFormerKeys } from './reencrypt-rows.ts';
import { type TaskRow, updateTask } from './task-rows.ts';
import { verifyVault } from './verify.ts';

export type TaskContext = MaintenanceContext & {
  readonly pinsOf: PinnedRevisionLookup;
  /** Signal that aborts when the service stops. The next server process continues the task. */
  readonly signal: AbortSignal;
};

/**
 * The result of one pass of a task. `isDone` is true if nothing remains except items that cannot be processed, which `findings`
 * lists.
 */
type Pass = { readonly isDone: boolean; readonly findings: readonly VaultDamageFinding[] };

const maxFindings = 1_000;

/**
 * Runs one pass of a task and returns whether the task is done. The remaining work is read from the stored data, so that the next
 * server can continue after a kill and several servers can share the work. Damaged data stays unchanged and becomes a finding.
 */
export async function runTask(context: TaskContext, task: TaskRow): Promise<boolean> {
  const { total, behind } = await sizes[task.task](context, task);
  let done = Math.max(0, total - behind);
  const advance: ProgressReporter = async (count) => {
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
  rekey: ({ db }) => countWrappedKeys(db),
  rotate: ({ db }, task) => countSetsWithFormerKeys(db, task.organization_id),
  verify: async ({ db }, task) => {
    const { total } = await countSetsWithFormerKeys(db, task.organization_id);
    return { total, behind: total };
  },
};

const passes: Readonly<
  Record<TaskRow['task'], (context: TaskContext, task: TaskRow, advance: ProgressReporter) => Promise<Pass>>
> = {
  rekey: async (context, _, advance) => {
    const damaged = await rewrapKeys(context, advance);
    const findings = await Promise.all(
      damaged.map(async ({ organization_id: id, purpose, version, problem }) => ({
        organization: await findOrganizationName(context.db, id),
        set: null,
        problem: `the ${purpose} key of version ${version}: ${problem}`,
      })),
    );
    return { isDone: (await countWrappedKeys(context.db)).behind <= damaged.length, findings };
  },
  rotate: async (context, task, advance) => {
    const { findings, damaged } = await reencryptSets(context, task.organization_id, advance);
    const { behind } = await countSetsWithFormerKeys(context.db, task.organization_id);
    return { isDone: behind <= damaged, findings };
  },
  verify: async (context, task, advance) => {
    return { isDone: true, findings: await verifyVault(context, task.organization_id, advance) };
  },
};
