import type { DirectoryTreeRemover } from '@bothost/runtime';
import { createBuildDirectories } from './build-directories.ts';
import { type BuildLogNotifier, createBuildLogNotifier } from './build-log-notifier.ts';
import { createUploadReceiver, type UploadReceiver } from './receive.ts';
import {
  type BuildRetention,
  type BuildRetentionContext,
  type BuildUseLookup,
  removeUnusedBuilds,
} from './retention.ts';
import { type BuildWorker, type BuildWorkerContext, createBuildWorker } from './worker.ts';

/** The upload, log and worker services for builds. */
export type BuildServices = {
  readonly uploadTokenKey: Buffer;
  readonly uploads: UploadReceiver;
  readonly buildLogs: BuildLogNotifier;
  readonly archivePath: (uploadId: string) => string;
  readonly worker: BuildWorker;
  readonly removeUnused: () => Promise<void>;
};

export type BuildServicesOptions = Omit<BuildWorkerContext, 'directories' | 'buildLogs'> &
  Omit<BuildRetentionContext, 'directories'> & {
    readonly dataDirectory: string;
    readonly removeTree: DirectoryTreeRemover;
    readonly uploadTokenKey: Buffer;
    readonly closing: AbortSignal;
    readonly retention: BuildRetention;
    readonly inUse: BuildUseLookup;
  };

/** Creates the build services, and the directories that they use in the data directory. Does not start the build worker. */
export async function createBuildServices(options: BuildServicesOptions): Promise<BuildServices> {
  const directories = await createBuildDirectories(options.dataDirectory, options.removeTree);
  const buildLogs = createBuildLogNotifier();
  const context = { ...options, directories, buildLogs };
  return {
    uploadTokenKey: options.uploadTokenKey,
    uploads: createUploadReceiver(context),
    buildLogs,
    archivePath: directories.archive,
    worker: createBuildWorker(context),
    removeUnused: () => removeUnusedBuilds(context, options.retention, options.inUse),
  };
}
