import { existsSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { z } from 'zod';
import { ProjectPreparationError } from '../../runtime.ts';
import { isFileInProject, readManifestOrLockFile } from './project-file.ts';

const names = z.record(z.string(), z.unknown()).default({});

const manifestSchema = z.looseObject({
  main: z.string().min(1).optional(),
  scripts: names,
  dependencies: names,
  optionalDependencies: names,
  peerDependencies: names,
  devDependencies: names,
  workspaces: z.unknown().optional(),
  engines: z.looseObject({ node: z.string().optional() }).default({}),
});

export type NodeManifest = z.infer<typeof manifestSchema>;

/** Parses `package.json`, or returns `{}` if it does not exist. Throws `ProjectPreparationError`. */
export function readManifest(directory: string): NodeManifest {
  const text = existsSync(join(directory, 'package.json')) ? readManifestOrLockFile(directory, 'package.json') : '{}';
  try {
    return manifestSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new ProjectPreparationError('package.json is not valid. It must be a JSON object whose "main" is a string.', {
      cause: error,
    });
  }
}

/** The main file: `main` of package.json, else index.js. Null if missing. Throws `ProjectPreparationError` if it is outside. */
export function findMainFile(directory: string, manifest: Pick<NodeManifest, 'main'>): string | null {
  const main = mainName(manifest);
  if (!resolve(directory, main).startsWith(resolve(directory) + sep)) {
    throw new ProjectPreparationError(`"main" of package.json is outside the project: ${main}`);
  }
  const candidates = [main, `${main}.js`, join(main, 'index.js')];
  return candidates.find((name) => isFileInProject(directory, name)) ?? null;
}

export function createMissingMainFileError(manifest: Pick<NodeManifest, 'main'>): ProjectPreparationError {
  return new ProjectPreparationError(
    `The project has no ${mainName(manifest)}. Set "main" of package.json to the file to start.`,
  );
}

function mainName(manifest: Pick<NodeManifest, 'main'>): string {
  return manifest.main ?? 'index.js';
}
