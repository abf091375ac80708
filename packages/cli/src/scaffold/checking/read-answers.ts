import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../failure.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { readConfigFile } from '../configuration/fields.ts';
import { resolve } from '../configuration/resolve.ts';
import { answersPath, type Hashes, isHashes, unpacked } from '../writing/answers.ts';
import { staysInside } from '../writing/apply-edits.ts';

/** How a project was generated, from `.botcli/project.json`. */
export type Answers = {
  readonly configuration: Configuration;
  /** `botcli 0.1.0` */
  readonly generator: string;
  /** Hash of the generated text of each file. */
  readonly files: Hashes;
  /** Hashes of the guides; null in a project of a version that did not store them. */
  readonly guides: Hashes | null;
  /** The generated texts by path, as far as they are stored. */
  readonly generated: ReadonlyMap<string, string>;
};

/** Reads the answers of a project. @throws `Failure` no-project, answers-unreadable, answers-invalid */
export function readAnswers(directory: string): Answers {
  const path = join(directory, answersPath);
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new Failure('no-project', `${directory} is not a botcli project: it has no ${answersPath}.`);
    }
    throw new Failure('answers-unreadable', `Cannot read ${path}: ${error instanceof Error ? error.message : error}`);
  }
  const { configuration, generator, files, guides, generated } = (parsed ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof generator !== 'string' || !isHashes(files) || !Object.keys(files).every(staysInside)) {
    throw new Failure('answers-unreadable', `${path} was not written by botcli, or was damaged.`);
  }
  const stored = readConfigFile(JSON.stringify(configuration ?? null));
  const resolved = resolve(stored.options, '');
  const issues = [...stored.issues, ...resolved.issues];
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
