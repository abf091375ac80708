import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { PreparedProject } from '../../runtime.ts';
import { writeJsonAtomically } from '../../write-json-atomically.ts';

const preparedSchema = z.object({
  project: z.string(),
  kind: z.enum(['node', 'python']).default('node'),
  main: z.string(),
  gid: z.int().nullable(),
  owner: z.string().nullable().default(null),
  environment: z.string().nullable().default(null),
});

/**
 * A project that is ready to start. `main` is the file to run, relative to the project. `gid` is the group that can read the
 * project, or null if bots have no accounts of their own. `owner` is the result of `getProjectOwner`. `environment` is the name
 * of a Python environment of the owner, or null. The defaults are for stored projects of earlier service versions.
 */
export type Project = z.infer<typeof preparedSchema>;

/** Parses a stored result of `prepare`. Throws if the value is not valid. */
export function parsePreparedProject(prepared: PreparedProject): Project {
  return preparedSchema.parse(prepared);
}

export function readProject(projectsDirectory: string, id: string): Project | null {
  try {
    return preparedSchema.parse(JSON.parse(readFileSync(recordPath(projectsDirectory, id), 'utf8')));
  } catch {
    return null;
  }
}

/** Writes the record of a project, as the last step of preparing the project. */
export function writeProject(projectsDirectory: string, project: Project): void {
  writeJsonAtomically(recordPath(projectsDirectory, project.project), project);
}

/** Removes the record of a project, as the first step of removing the project. Idempotent. */
export function removeProjectRecord(projectsDirectory: string, id: string): void {
  rmSync(recordPath(projectsDirectory, id), { force: true });
}

function recordPath(projectsDirectory: string, id: string): string {
  return join(projectsDirectory, `${id}.json`);
}
