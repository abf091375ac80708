import { createHash } from 'node:crypto';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { Configuration } from '../configuration/configuration.ts';
import type { ProjectFile } from '../project/project-file.ts';

/**
 * Where a project keeps how it was made: what was chosen, by which version, a hash for each generated file, and the texts
 * themselves, so that a later version can tell what was edited from what was generated, and merge the two.
 */
export const answersPath = '.botcli/project.json';

/** More than any project's texts: what unpacks to more was not made by us. */
const mostBytes = 5_000_000;

/** The file of answers. Nothing of the moment is in it, so that the same choices make the same bytes. */
export function answersFile(configuration: Configuration, version: string, files: readonly ProjectFile[]): ProjectFile {
  const hashes = Object.fromEntries(files.map(({ path, text }) => [path, `sha256:${hashOf(text)}`]));
  const answers = { generator: `botcli ${version}`, configuration, files: hashes, generated: packed(files) };
  return { path: answersPath, text: `${JSON.stringify(answers, null, 2)}\n` };
}

/** In hexadecimal. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Texts by path as JSON, by brotli, in base64: about 10 kB for a project with a client. */
function packed(files: readonly ProjectFile[]): string {
  const texts = JSON.stringify(Object.fromEntries(files.map(({ path, text }) => [path, text])));
  // More costs ten times the time and saves a tenth.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 6 };
  return brotliCompressSync(texts, { params }).toString('base64');
}

/** The generated texts by path. Those whose hash is another one are left out, and all when they cannot be unpacked. */
export function unpacked(generated: unknown, hashes: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  if (typeof generated !== 'string') return new Map();
  try {
    const json = brotliDecompressSync(Buffer.from(generated, 'base64'), { maxOutputLength: mostBytes }).toString();
    const texts = Object.entries(JSON.parse(json) as Readonly<Record<string, unknown>>);
    return new Map(
      texts.flatMap(([path, text]) =>
        typeof text === 'string' && hashes[path] === `sha256:${hashOf(text)}` ? [[path, text] as const] : [],
      ),
    );
  } catch {
    return new Map();
  }
}
