import { isUtf8 } from 'node:buffer';
import { createApiError, type Operations, type ResponseOf } from '@bothost/contract';
import { ArchiveError } from '../builds/archive-error.ts';
import { type ArchiveFile, listArchiveFiles, readArchiveFile } from '../builds/archive-files.ts';
import { findBuildArchive } from '../builds/find.ts';
import { hasErrorCode } from '../store/error-code.ts';
import type { Database } from '../store/tables.ts';
import { findDeploymentOfAgent } from './deployment-rows.ts';
import { findAgent } from './rows.ts';

export type DeploymentFilesContext = {
  readonly db: Database;
  readonly archivePath: (uploadId: string) => string;
};
type Deployment = { readonly organizationId: string; readonly agentName: string; readonly deploymentId: string };

/**
 * Lists the files of the project that a deployment runs.
 *
 * @throws failure `not-found`, `deployment-not-found`, `deployment-files-unavailable`
 */
export async function listDeploymentFiles(
  context: DeploymentFilesContext,
  deployment: Deployment,
  signal: AbortSignal,
): Promise<{ files: ArchiveFile[] }> {
  const archive = await findArchive(context, deployment);
  return { files: [...(await readArchive(signal, () => listArchiveFiles(archive, signal)))] };
}

/**
 * Returns a file of the project that a deployment runs, with its content if that is text.
 *
 * @throws failure `not-found`, `deployment-not-found`, `deployment-files-unavailable`, `deployment-file-not-found`
 */
export async function getDeploymentFile(
  context: DeploymentFilesContext,
  deployment: Deployment,
  path: string,
  signal: AbortSignal,
): Promise<ResponseOf<Operations['getDeploymentFile']>> {
  const archive = await findArchive(context, deployment);
  const content = await readArchive(signal, () => readArchiveFile(archive, path, signal));
  if (content === null) throw createApiError('deployment-file-not-found');
  if (content === 'too-large') return { path, text: null, omitted: 'too-large' };
  if (content.includes(0) || !isUtf8(content)) return { path, text: null, omitted: 'binary' };
  return { path, text: content.toString(), omitted: null };
}

async function findArchive(context: DeploymentFilesContext, deployment: Deployment) {
  const { db } = context;
  const { organizationId, agentName, deploymentId } = deployment;
  const agent = await findAgent(db, organizationId, agentName);
  if (agent === undefined) throw createApiError('not-found');
  const row = await findDeploymentOfAgent(db, agent.id, deploymentId);
  if (row === undefined) throw createApiError('deployment-not-found');
  if (row.build_id === null) throw createApiError('deployment-files-unavailable');
  const archive = await findBuildArchive(context, organizationId, row.build_id);
  if (archive === null) throw createApiError('deployment-files-unavailable');
  return archive;
}

async function readArchive<T>(signal: AbortSignal, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (signal.aborted) throw createApiError('shutting-down', { message: 'The service is shutting down. Try again.' });
    if (hasErrorCode(error, 'ENOENT') || error instanceof ArchiveError) {
      throw createApiError('deployment-files-unavailable', { cause: error });
    }
    throw error;
  }
}
