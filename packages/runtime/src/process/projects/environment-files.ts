import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from '../instances/instance-record.ts';
import type { Project } from './prepared-project.ts';
import type { Python } from './python-interpreter.ts';

export type EnvironmentFiles = {
  readonly directory: string;
  /** The virtual environment: its scripts hold its path, so that it cannot be moved. */
  readonly environment: string;
  readonly bin: string;
  /** Written last: without it the environment is not whole. */
  readonly marker: string;
  /** An empty file for each project that uses it, by the project's id. */
  readonly users: string;
};

/** Where a Python environment lies; throws for a project that has none. */
export function environmentFiles(
  environmentsDirectory: string,
  project: Pick<Project, 'owner' | 'environment'>,
): EnvironmentFiles {
  if (project.owner === null || project.environment === null) throw new Error('the project has no Python environment');
  const directory = join(environmentsDirectory, project.owner, project.environment);
  return {
    directory,
    environment: join(directory, 'env'),
    bin: join(directory, 'env', 'bin'),
    marker: join(directory, 'environment.json'),
    users: join(directory, 'users'),
  };
}

const markerSchema = z.object({ python: z.object({ path: z.string(), version: z.string() }) });

/** The last step of making an environment. */
export function writeMarker(files: EnvironmentFiles, python: Python): void {
  replaceFile(files.marker, JSON.stringify({ python }));
}

/** The interpreter that an environment was made with; throws when the environment is not whole. */
export function readMarker(files: EnvironmentFiles): Python {
  return markerSchema.parse(JSON.parse(readFileSync(files.marker, 'utf8'))).python;
}
