import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Prepared } from '../../runtime.ts';
import { replaceFile } from '../instances/instance-record.ts';

const preparedSchema = z.object({
  project: z.string(),
  kind: z.enum(['node', 'python']).default('node'),
  main: z.string(),
  gid: z.int().nullable(),
  owner: z.string().nullable().default(null),
  environment: z.string().nullable().default(null),
});

/**
 * A project of the data directory, ready to start. `main`: its file, relative to the project. `gid`: the group that may
 * read it, that of its instances; null without own accounts. `owner`: whose caches and environments it shares.
 * `environment`: the name of its Python environment there. What an earlier version stored has neither owner nor kind.
 */
export type Project = z.infer<typeof preparedSchema>;

/** Reads back what `prepare` gave; throws when it is something else. */
export function parsePrepared(prepared: Prepared): Project {
  return preparedSchema.parse(prepared);
}

/** Null when there is none, or none that was written whole. Its presence says that the project is complete. */
export function readProject(projectsDirectory: string, id: string): Project | null {
  try {
    return preparedSchema.parse(JSON.parse(readFileSync(recordPath(projectsDirectory, id), 'utf8')));
  } catch {
    return null;
  }
}

/** The last step of making a project. */
export function writeProject(projectsDirectory: string, project: Project): void {
  replaceFile(recordPath(projectsDirectory, project.project), JSON.stringify(project));
}

/** The first step of removing one. Idempotent. */
export function removeProjectRecord(projectsDirectory: string, id: string): void {
  rmSync(recordPath(projectsDirectory, id), { force: true });
}

function recordPath(projectsDirectory: string, id: string): string {
  return join(projectsDirectory, `${id}.json`);
}
