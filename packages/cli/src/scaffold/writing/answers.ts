import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { Configuration } from '../configuration/configuration.ts';
import type { ProjectFile } from '../project-file.ts';
import { textOf } from './survey.ts';

/**
 * Stores how a project was generated: the configuration, the version of botcli, and the generated texts with their hashes. With
 * these, a later version recognizes the user's edits and merges them.
 */
export const answersPath = '.botcli/project.json';

/** `sha256:...` by path. */
export type Hashes = Readonly<Record<string, string>>;

/** Larger than the texts of any project. Limits what a damaged or hostile file can unpack to. */
const maxBytes = 5_000_000;

/**
 * The file that stores the answers. It has no timestamps, so that the same configuration gives the same bytes. Guides are stored
 * as hashes only, because they are not merged.
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

/** Hashes of the guides in the answers of a project; null if there are no answers, or they cannot be read. */
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

/** SHA-256 in hexadecimal. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** JSON of texts by path, compressed with Brotli, in base64: about 10 kB for a project with a client. */
function packed(files: readonly ProjectFile[]): string {
  const texts = JSON.stringify(Object.fromEntries(files.map(({ path, text }) => [path, text])));
  // The highest quality takes ten times as long and saves 10 %.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 6 };
  return brotliCompressSync(texts, { params }).toString('base64');
}

/** The generated texts by path. Omits texts whose hash differs, and all of them if they cannot be unpacked. */
export function unpacked(generated: unknown, hashes: Hashes): ReadonlyMap<string, string> {
  if (typeof generated !== 'string') return new Map();
  try {
    const json = brotliDecompressSync(Buffer.from(generated, 'base64'), { maxOutputLength: maxBytes }).toString();
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
