import { chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { textOf } from './survey.ts';

/** What a file was and what it becomes; null where there is none. */
export type Edit = { readonly path: string; readonly before: string | null; readonly after: string | null };

/** What a change is going to do, kept in the project while it is done: who is killed amid it can finish it later. */
const planPath = '.botcli/change.json';

/**
 * Makes all edits or none. What is going to be done is written down first, each file is replaced by one rename, and a failure
 * puts back what was there. A kill leaves every file old or new, and the plan, which `finish` carries out.
 */
export function carryOut(directory: string, edits: readonly Edit[], signal: AbortSignal): void {
  // Ctrl-C cannot be seen between two calls that do not wait; whatever came before this line is honoured.
  signal.throwIfAborted();
  replace(join(directory, planPath), `${JSON.stringify({ edits })}\n`);
  const done: Edit[] = [];
  try {
    for (const edit of edits) {
      done.push(edit);
      settle(directory, edit.path, edit.after);
    }
  } catch (error) {
    for (const { path, before } of done.reverse()) settle(directory, path, before);
    throw error;
  } finally {
    rmSync(join(directory, planPath), { force: true });
  }
}

/** The edits of a change that was broken off; null when there is none. A plan that nobody of ours wrote is none. */
export function brokenOff(directory: string): readonly Edit[] | null {
  const text = textOf(join(directory, planPath));
  if (text === null) return null;
  try {
    const { edits } = JSON.parse(text) as { readonly edits?: unknown };
    return Array.isArray(edits) && edits.every(isEdit) ? edits : null;
  } catch {
    return null;
  }
}

/** Carries out what is left of a change. Files that somebody edited since are left alone; their paths are the answer. */
export function finish(directory: string, edits: readonly Edit[]): readonly string[] {
  const left: string[] = [];
  for (const { path, before, after } of edits) {
    const now = textOf(join(directory, path));
    if (now === before) settle(directory, path, after);
    else if (now !== after) left.push(path);
  }
  rmSync(join(directory, planPath), { force: true });
  return left;
}

function settle(directory: string, path: string, text: string | null): void {
  const target = join(directory, path);
  if (text === null) rmSync(target, { force: true });
  else replace(target, text);
}

/** By one rename; what may be done with the file stays. */
function replace(target: string, text: string): void {
  const fresh = `${target}.botcli-new`;
  const found = statSync(target, { throwIfNoEntry: false });
  mkdirSync(dirname(target), { recursive: true });
  try {
    writeFileSync(fresh, text);
    if (found !== undefined) chmodSync(fresh, found.mode);
    renameSync(fresh, target);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}

function isEdit(value: unknown): value is Edit {
  const { path, before, after } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isText = (one: unknown) => one === null || typeof one === 'string';
  return typeof path === 'string' && staysInside(path) && isText(before) && isText(after);
}

/** Files in a project may come from anywhere, and the paths in them are read, written and removed. */
export function staysInside(path: string): boolean {
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..') && !/[\\\0]/.test(path);
}
