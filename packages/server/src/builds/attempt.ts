import { stripVTControlCharacters } from 'node:util';
import { createTimeout, replaceBracketsWithParentheses } from '@bothost/contract';
import {
  type BuildOutputHandler,
  type PreparedProject,
  ProjectPreparationError,
  ProjectPreparationTimeoutError,
  type Runtime,
} from '@bothost/runtime';
import { hasErrorCode } from '../store/error-code.ts';
import { ArchiveError } from './archive-error.ts';
import type { BuildDirectories } from './build-directories.ts';
import type { DiskSpaceGuard } from './disk-space.ts';
import type { BuildRow } from './rows.ts';
import { unpackArchive } from './unpack.ts';

export type BuildOutcome = { readonly state: 'success'; readonly prepared: PreparedProject } | FailedBuildOutcome;

export type FailedBuildOutcome = {
  readonly state: 'failed' | 'timeout' | 'canceled';
  readonly errorCode: string;
  readonly error: string;
};

export type AttemptContext = {
  readonly now: () => Date;
  readonly runtime: Pick<Runtime, 'prepare'>;
  readonly directories: BuildDirectories;
  readonly disk: Pick<DiskSpaceGuard, 'require'>;
  /** Time limit in seconds for one attempt, which unpacks and prepares the project. */
  readonly timeoutSeconds: number;
};

/** Unpacks and prepares a project. Rejects on abort, or if the service failed and another attempt may succeed. */
export async function attemptBuild(
  context: AttemptContext,
  build: BuildRow,
  write: BuildOutputHandler,
  stopped: AbortSignal,
): Promise<BuildOutcome> {
  const { directories, timeoutSeconds } = context;
  const timeout = createTimeout(timeoutSeconds * 1000);
  const signal = AbortSignal.any([stopped, timeout]);
  const tree = directories.tree(build.id);
  const began = context.now().getTime();
  const seconds = () => ((context.now().getTime() - began) / 1000).toFixed(1);
  try {
    context.disk.require(build.size_bytes);
    write(`Unpacking ${size(build.size_bytes)}, content hash ${build.content_hash}`);
    const archive = { path: directories.archive(build.upload_id), bytes: build.size_bytes };
    const { files, bytes } = await unpackArchive(archive, tree, {
      ...directories,
      requireSpace: context.disk.require,
      output: write,
      signal,
    });
    write(`Unpacked ${files} files, ${size(bytes)}, in ${seconds()} s`);
    const { organization_id: organizationId, content_hash: contentHash } = build;
    const source = { kind: 'build', path: tree, contentHash, organizationId } as const;
    const prepared = await context.runtime.prepare({ id: build.id, source }, write, signal);
    write(`Ready after ${seconds()} s`);
    return { state: 'success', prepared };
  } catch (error) {
    const isLost = isMissing(error, directories.archive(build.upload_id));
    const outcome = isLost ? archiveLost : outcomeOf(error, timeout, timeoutSeconds);
    if (outcome === null || stopped.aborted) throw error;
    write(outcome.error);
    return outcome;
  } finally {
    await directories.removeTree(tree);
  }
}

const archiveLost = {
  state: 'failed',
  errorCode: 'archive-lost',
  error: 'The archive is no longer stored on the service. Upload it again.',
} as const;

function isMissing(error: unknown, path: string): boolean {
  return hasErrorCode(error, 'ENOENT') && 'path' in error && error.path === path;
}

/** Returns the build's outcome after a failed attempt. Null if the build must be attempted again. */
function outcomeOf(error: unknown, timeout: AbortSignal, seconds: number): FailedBuildOutcome | null {
  // Check the timeout first, because an aborted attempt can fail with any error.
  if (timeout.aborted || error instanceof ProjectPreparationTimeoutError) {
    return { state: 'timeout', errorCode: 'build-timeout', error: `The build took longer than ${seconds} seconds.` };
  }
  if (error instanceof ArchiveError) return { state: 'failed', errorCode: error.problem, error: error.message };
  if (error instanceof ProjectPreparationError)
    return { state: 'failed', errorCode: 'prepare-failed', error: sanitize(error.message) };
  return null;
}

const errorCharacters = 8_000;

/** Makes text safe for the database and for terminals. */
function sanitize(text: string): string {
  return replaceBracketsWithParentheses(stripVTControlCharacters(text).replace(/(?!\n)\p{Cc}/gu, '')).slice(
    0,
    errorCharacters,
  );
}

function size(bytes: number): string {
  if (bytes < 1_048_576) return `${Math.ceil(bytes / 1024)} KiB`;
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
