import { createHash } from 'node:crypto';
import type { Database, VaultFinding } from '../../store/tables.ts';
import { isDamage } from '../vault/damaged.ts';
import { encode, milliseconds } from '../vault/encode.ts';
import { RootKeyMissing, type RootKeyProvider } from '../vault/root-key.ts';
import { currentRootKeyId } from '../vault/vault-state.ts';
import { listTasks, replaceProof, type TaskRow } from './task-rows.ts';

type Context = { readonly db: Database; readonly rootKeys: RootKeyProvider };
type Provable = Omit<TaskRow, 'root_key_id' | 'proof' | 'reached' | 'updated_at'>;

/**
 * What shows later that a task is the one that was asked for, and that what it came to is what was found: a hash of both, which
 * the root key wraps. It belongs to no organization, so no key of one can stamp it.
 */
export async function proveTask(context: Context, task: Provable): Promise<Pick<TaskRow, 'root_key_id' | 'proof'>> {
  const keyId = await currentRootKeyId(context.db);
  return { root_key_id: keyId, proof: await context.rootKeys.wrap(hashOf(task), keyId, placeOf(task)) };
}

/** Whether a task and its result are as they were written. */
export async function isTaskTrue({ rootKeys }: Pick<Context, 'rootKeys'>, task: TaskRow): Promise<boolean> {
  if (task.proof === null || task.root_key_id === null) return false;
  try {
    return (await rootKeys.unwrap(task.proof, task.root_key_id, placeOf(task))).equals(hashOf(task));
  } catch (error) {
    if (isDamage(error) || error instanceof RootKeyMissing) return false;
    throw error;
  }
}

/**
 * Proves tasks and their results anew with the root key that wraps now: the former one may be taken away, also from work that
 * goes on. Those that are not true stay so.
 */
export async function proveTasksAnew(context: Context): Promise<void> {
  for (const task of await listTasks(context.db)) {
    if (await isTaskTrue(context, task)) await replaceProof(context.db, task, await proveTask(context, task));
  }
}

/** In place of findings that are not to be believed. */
export const taskChanged: VaultFinding = {
  organization: '',
  set: null,
  problem: 'this work or what it found was changed in the database: ask for it again',
};

function placeOf({ id }: Pick<TaskRow, 'id'>): Buffer {
  return encode(['vault task', id]);
}

/** While it runs its numbers change, and say nothing but how far it is. */
function hashOf(task: Provable): Buffer {
  const asked = [task.task, task.organization_id, milliseconds(task.created_at)];
  const found = JSON.stringify(task.findings.map(({ organization, set, problem }) => [organization, set, problem]));
  const ended = task.ended_at === null ? null : milliseconds(task.ended_at);
  const result = task.state === 'running' ? [] : [task.state, task.done, task.total, found, ended];
  return createHash('sha256')
    .update(encode([...asked, ...result]))
    .digest();
}
