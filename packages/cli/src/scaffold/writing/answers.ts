import { createHash } from 'node:crypto';
import type { Configuration } from '../configuration/configuration.ts';
import type { ProjectFile } from '../project/project-file.ts';

/** Where a project keeps how it was made: what was chosen, by which version, and a hash for each generated file. */
export const answersPath = '.botcli/project.json';

/** The file of answers. Nothing of the moment is in it, so that the same choices make the same bytes. */
export function answersFile(configuration: Configuration, version: string, files: readonly ProjectFile[]): ProjectFile {
  const hashes = Object.fromEntries(files.map(({ path, text }) => [path, `sha256:${hashOf(text)}`]));
  const answers = { generator: `botcli ${version}`, configuration, files: hashes };
  return { path: answersPath, text: `${JSON.stringify(answers, null, 2)}\n` };
}

/** In hexadecimal. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
