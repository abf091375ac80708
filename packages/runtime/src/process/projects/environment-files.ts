import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { writeJsonAtomically } from '../../write-json-atomically.ts';
import type { Project } from './prepared-project.ts';
import type { PythonInterpreter } from './python-interpreter.ts';

export type PythonEnvironmentFiles = {
  readonly directory: string;
  /** Directory of the virtual environment. It cannot be moved, because scripts in it contain its path. */
  readonly environment: string;
  readonly bin: string;
  /** Marker file, written last when an environment is created. An environment without this file is incomplete. */
  readonly marker: string;
  readonly users: string;
};

export function getPythonEnvironmentFiles(
  environmentsDirectory: string,
  project: Pick<Project, 'owner' | 'environment'>,
): PythonEnvironmentFiles {
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

/** Writes the marker file of a complete environment, which names its interpreter. */
export function markPythonEnvironmentComplete(files: PythonEnvironmentFiles, python: PythonInterpreter): void {
  writeJsonAtomically(files.marker, { python });
}

/** Reads which interpreter an environment uses. Throws if the environment is incomplete. */
export function readPythonEnvironmentInterpreter(files: PythonEnvironmentFiles): PythonInterpreter {
  return markerSchema.parse(JSON.parse(readFileSync(files.marker, 'utf8'))).python;
}
