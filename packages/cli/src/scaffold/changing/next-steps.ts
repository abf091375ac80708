import { join } from 'node:path';
import type { PackageManager } from '../../config.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { planOf } from '../project/plan.ts';
import { requiredVariables } from '../project/variables.ts';
import { shellWord } from '../shell-word.ts';

/** Variables that have to be filled now and did not have to be before. */
export function newVariables(before: Configuration, after: Configuration): readonly string[] {
  const had = requiredVariables(planOf(before));
  return requiredVariables(planOf(after)).filter((name) => !had.includes(name));
}

/** What a person still has to do for the files that were changed, as lines. */
export function nextSteps(
  directory: string,
  touched: readonly string[],
  variables: readonly string[],
  packageManager: PackageManager,
): readonly string[] {
  const place = (folder: string) => shellWord(join(directory, folder));
  return [
    ...(variables.length > 0 ? [`Fill in server/.env: ${variables.join(', ')}`] : []),
    ...(touched.includes('server/pyproject.toml') ? [`cd ${place('server')} && uv sync`] : []),
    ...(touched.includes('client/package.json') ? [`cd ${place('client')} && ${packageManager} install`] : []),
  ];
}
