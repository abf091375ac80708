import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getObjectFields } from '@bothost/contract/json-object';
import { Failure, getSystemErrorCode } from '../../failure.ts';
import type { ProjectConfiguration } from '../configuration/configuration.ts';
import { readConfigFile } from '../configuration/fields.ts';
import { resolveConfiguration } from '../configuration/resolve.ts';
import { projectRecordPath } from '../project-file.ts';
import { isInsideProject } from '../writing/apply-edits.ts';
import { decompressGeneratedTexts, type FileHashes, isFileHashes } from '../writing/project-record.ts';

/** The content of `.botcli/project.json`, which records how a project was generated. */
export type ProjectRecord = {
  readonly configuration: ProjectConfiguration;
  /** The version of botcli that generated the project, for example `botcli 0.1.0`. */
  readonly generator: string;
  readonly files: FileHashes;
  /** The hashes of the guides, such as `AGENTS.md`. Null in projects of an old botcli, which stored no hashes. */
  readonly guides: FileHashes | null;
  /** The generated texts by path. The map omits texts that are damaged or were not stored. */
  readonly generated: ReadonlyMap<string, string>;
};

/** Reads the file that records how a project was generated. @throws `Failure` no-project, answers-unreadable, answers-invalid */
export function readProjectRecord(directory: string): ProjectRecord {
  const path = join(directory, projectRecordPath);
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    if (getSystemErrorCode(error) === 'ENOENT') {
      throw new Failure('no-project', `${directory} is not a botcli project: it has no ${projectRecordPath}.`, null, {
        cause: error,
      });
    }
    const message = `Cannot read ${path}. ${error instanceof Error ? error.message : error}`;
    throw new Failure('answers-unreadable', message, null, { cause: error });
  }
  const { configuration, generator, files, guides, generated } = getObjectFields(parsed);
  if (typeof generator !== 'string' || !isFileHashes(files) || !Object.keys(files).every(isInsideProject)) {
    throw new Failure('answers-unreadable', `The file ${path} was not written by botcli, or is damaged.`);
  }
  const stored = readConfigFile(JSON.stringify(configuration ?? null));
  const resolved = resolveConfiguration(stored.options, '', true);
  const issues = [...stored.issues, ...resolved.issues];
  if (resolved.configuration === null || issues.length > 0) {
    throw new Failure(
      'answers-invalid',
      `The configuration in ${path} is not valid for this version of botcli.`,
      null,
      { issues },
    );
  }
  return {
    configuration: resolved.configuration,
    generator,
    files,
    guides: isFileHashes(guides) ? guides : null,
    generated: decompressGeneratedTexts(generated, files),
  };
}
