import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from '../instances/instance-record.ts';
import type { Project } from './prepared-project.ts';
import type { Python } from './python-interpreter.ts';

export type EnvironmentFiles = {
  readonly directory: string;
  /** The virtual environment. It cannot be moved, because its scripts contain its path. */
  readonly environment: string;
  readonly bin: string;
  /** Written last. Without this file, the environment is incomplete. */
  readonly marker: string;
  /** Directory with an empty file per project that uses the environment, named by the project's id. */
  readonly users: string;
};

/** Paths of a project's Python environment. Throws if the project has none. */
export function environmentFiles(
  environmentsDirectory: string,
  project: Pick<Project, 'owner' | 'environment'>,
): EnvironmentFiles {
  if (project.owner === null || project.environment === null) throw new Error('The project has no Python environment.');
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

/** The last step of creating an environment. */
export function writeMarker(files: EnvironmentFiles, python: Python): void {
  replaceFile(files.marker, JSON.stringify({ python }));
}

/** The interpreter of an environment. Throws if the environment is incomplete. */
export function readMarker(files: EnvironmentFiles): Python {
  return markerSchema.parse(JSON.parse(readFileSync(files.marker, 'utf8'))).python;
}
