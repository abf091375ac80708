import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../failure.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { readConfigFile } from '../configuration/fields.ts';
import { resolve } from '../configuration/resolve.ts';
import { answersPath, type Hashes, isHashes, unpacked } from '../writing/answers.ts';
import { staysInside } from '../writing/carry-out.ts';

/** How a project was made. */
export type Answers = {
  readonly configuration: Configuration;
  /** `botcli 0.1.0` */
  readonly generator: string;
  /** Of each file as it was generated. */
  readonly files: Hashes;
  /** The same of the guides; null in a project that was made before they were kept. */
  readonly guides: Hashes | null;
  /** The texts that were generated, as far as the answers hold them. */
  readonly generated: ReadonlyMap<string, string>;
};

/** Reads the answers of a project; a `Failure` says that it is none, or what is wrong with them. */
export function readAnswers(directory: string): Answers {
  const path = join(directory, answersPath);
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new Failure('no-project', `${directory} is not a botcli project: ${answersPath} is not there.`);
    }
    throw new Failure(
      'answers-unreadable',
      `${path} cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
  const { configuration, generator, files, guides, generated } = (parsed ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof generator !== 'string' || !isHashes(files) || !Object.keys(files).every(staysInside)) {
    throw new Failure('answers-unreadable', `${path} is not what botcli wrote there.`);
  }
  const said = readConfigFile(JSON.stringify(configuration ?? null));
  const resolved = resolve(said.given, '');
  const issues = [...said.issues, ...resolved.issues];
  if (resolved.configuration === null || issues.length > 0) {
    throw new Failure('answers-invalid', `The answers in ${path} are no longer valid.`, null, issues);
  }
  return {
    configuration: resolved.configuration,
    generator,
    files,
    guides: isHashes(guides) ? guides : null,
    generated: unpacked(generated, files),
  };
}
