import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { Configuration } from '../configuration/configuration.ts';
import type { ProjectFile } from '../project-file.ts';
import { textOf } from './survey.ts';

/**
 * Where a project keeps how it was made: what was chosen, by which version, a hash for each generated file, and the texts
 * themselves, so that a later version can tell what was edited from what was generated, and merge the two.
 */
export const answersPath = '.botcli/project.json';

/** `sha256:...` of each text, by its path. */
export type Hashes = Readonly<Record<string, string>>;

/** More than any project's texts: what unpacks to more was not made by us. */
const mostBytes = 5_000_000;

/**
 * The file of answers. Nothing of the moment is in it, so that the same choices make the same bytes. Of guides there are
 * hashes alone: edits and new versions of them are not merged.
 */
export function answersFile(
  configuration: Configuration,
  version: string,
  files: readonly ProjectFile[],
  guides: readonly ProjectFile[],
): ProjectFile {
  const answers = {
    generator: `botcli ${version}`,
    configuration,
    files: hashesOf(files),
    guides: hashesOf(guides),
    generated: packed(files),
  };
  return { path: answersPath, text: `${JSON.stringify(answers, null, 2)}\n` };
}

/** The guides that the answers of a project name; null where there are none, or none that can be read. */
export function recordedGuides(directory: string): Hashes | null {
  try {
    const { guides } = JSON.parse(textOf(join(directory, answersPath)) ?? '') as { readonly guides?: unknown };
    return isHashes(guides) ? guides : null;
  } catch {
    return null;
  }
}

export function isHashes(value: unknown): value is Hashes {
  return typeof value === 'object' && value !== null && Object.values(value).every((one) => typeof one === 'string');
}

function hashesOf(files: readonly ProjectFile[]): Hashes {
  return Object.fromEntries(files.map(({ path, text }) => [path, `sha256:${hashOf(text)}`]));
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
export function unpacked(generated: unknown, hashes: Hashes): ReadonlyMap<string, string> {
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
