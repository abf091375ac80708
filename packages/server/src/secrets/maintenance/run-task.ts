import type { Database } from '../../store/tables.ts';
import { countSecretSets } from '../rows.ts';
import { countWrappedKeys, rewrapKeys } from '../vault/rewrap-keys.ts';
import type { MaintenanceContext, MaintenancePass, PinnedRevisionLookup, ProgressReporter } from './context.ts';
import { findOrganizationName } from './organizations.ts';
import { reencryptSecrets } from './reencrypt.ts';
import { type TaskRow, updateTask } from './task-rows.ts';

export type TaskContext = MaintenanceContext & {
  readonly pinsOf: PinnedRevisionLookup;
  /** Signal that aborts when the service stops. The next server process continues the task. */
  readonly signal: AbortSignal;
};

const maxFindings = 1_000;

/**
 * Runs one pass of a task and returns whether the task is done. The remaining work is read from the stored data, so that the next
 * server can continue after a kill and several servers can share the work. Damaged data stays unchanged and becomes a finding.
 */
export async function runTask(context: TaskContext, task: TaskRow): Promise<boolean> {
  const { total, behind } = await countItems(context.db, task);
  let done = Math.max(0, total - behind);
  const advance: ProgressReporter = async (count) => {
    context.signal.throwIfAborted();
    done = Math.min(total, done + count);
    await updateTask(context.db, task.id, { done, updated_at: context.now() });
  };
  await updateTask(context.db, task.id, { done, total, updated_at: context.now() });
  const { isDone, findings } = await runPass(context, task, advance);
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

async function countItems(db: Database, { task, organization_id: organizationId }: TaskRow) {
  if (task === 'rekey') return countWrappedKeys(db);
  const total = await countSecretSets(db, organizationId);
  return { total, behind: total };
}

function runPass(context: TaskContext, task: TaskRow, advance: ProgressReporter): Promise<MaintenancePass> {
  if (task.task === 'rekey') return rewrapOrganizationKeys(context, advance);
  const scope = { organizationId: task.organization_id, isDryRun: task.task === 'verify' };
  return reencryptSecrets(context, scope, advance);
}

async function rewrapOrganizationKeys(context: TaskContext, advance: ProgressReporter): Promise<MaintenancePass> {
  const damaged = await rewrapKeys(context, advance);
  const findings = damaged.map(async ({ organization_id: id, purpose, version, problem }) => ({
    organization: await findOrganizationName(context.db, id),
    set: null,
    problem: `the ${purpose} key of version ${version}: ${problem}`,
  }));
  const { behind } = await countWrappedKeys(context.db);
  return { isDone: behind <= damaged.length, findings: await Promise.all(findings) };
}
