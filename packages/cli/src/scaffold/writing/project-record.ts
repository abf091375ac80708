import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { getObjectFields } from '@bothost/contract/json-object';
import type { ProjectConfiguration } from '../configuration/configuration.ts';
import { type ProjectFile, projectRecordPath } from '../project-file.ts';
import { readTextIfExists } from './survey.ts';

/** Hashes of files in the form `sha256:...`, by path. */
export type FileHashes = Readonly<Record<string, string>>;

/** Maximum size of all decompressed texts in bytes. Without a limit, a hostile file could decompress to any size. */
const maxBytes = 5_000_000;

/**
 * Creates `.botcli/project.json`. The file has no timestamps, so that the same configuration results in the same bytes. For
 * guides such as `AGENTS.md` it contains only hashes, because a later version of botcli merges other files but not guides.
 */
export function createProjectRecordFile(
  configuration: ProjectConfiguration,
  version: string,
  files: readonly ProjectFile[],
  guides: readonly ProjectFile[],
): ProjectFile {
  const answers = {
    generator: `botcli ${version}`,
    configuration,
    files: hashesOf(files),
    guides: hashesOf(guides),
    generated: packTexts(files),
  };
  return { path: projectRecordPath, text: `${JSON.stringify(answers, null, 2)}\n` };
}

/** The guides' hashes in `.botcli/project.json`. Null if the file is missing or invalid, or has none. */
export function readRecordedGuideHashes(directory: string): FileHashes | null {
  try {
    const { guides } = getObjectFields(JSON.parse(readTextIfExists(join(directory, projectRecordPath)) ?? ''));
    return isFileHashes(guides) ? guides : null;
  } catch {
    return null;
  }
}

export function isFileHashes(value: unknown): value is FileHashes {
  return typeof value === 'object' && value !== null && Object.values(value).every((one) => typeof one === 'string');
}

function hashesOf(files: readonly ProjectFile[]): FileHashes {
  return Object.fromEntries(files.map(({ path, text }) => [path, `sha256:${hashText(text)}`]));
}

/** Returns the SHA-256 hash of a text in hexadecimal. */
export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * Compresses the texts of the generated files with Brotli and encodes the result in Base64. The result has about 10 kB for a
 * project with a web client.
 */
function packTexts(files: readonly ProjectFile[]): string {
  const texts = JSON.stringify(Object.fromEntries(files.map(({ path, text }) => [path, text])));
  // The highest compression quality would take ten times as long and save only 10 %.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 6 };
  return brotliCompressSync(texts, { params }).toString('base64');
}

/** The generated texts, by path, except texts that do not match their hash. Empty if decompression fails. */
export function decompressGeneratedTexts(generated: unknown, hashes: FileHashes): ReadonlyMap<string, string> {
  if (typeof generated !== 'string') return new Map();
  try {
    const json = brotliDecompressSync(Buffer.from(generated, 'base64'), { maxOutputLength: maxBytes }).toString();
    const texts = Object.entries(getObjectFields(JSON.parse(json)));
    return new Map(
      texts.flatMap(([path, text]) =>
        typeof text === 'string' && hashes[path] === `sha256:${hashText(text)}` ? [[path, text] as const] : [],
      ),
    );
  } catch {
    return new Map();
  }
}
