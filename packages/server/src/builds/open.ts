import type { RemoveTree } from '@bothost/runtime';
import { createLogNews, type LogNews } from './log-news.ts';
import { openPlaces } from './places.ts';
import { createUploadReceiver, type UploadReceiver } from './receive.ts';
import { type BuildsInUse, type Retention, type RetentionContext, removeUnused } from './retention.ts';
import { type BuildWorker, createBuildWorker, type WorkerContext } from './worker.ts';

/** The upload, log and worker services for builds. */
export type BuildServices = {
  readonly uploadTokenKey: Buffer;
  readonly uploads: UploadReceiver;
  readonly buildLogs: LogNews;
  readonly worker: BuildWorker;
  readonly removeUnused: () => Promise<void>;
};

export type BuildServicesOptions = Omit<WorkerContext, 'places' | 'buildLogs'> &
  Omit<RetentionContext, 'places'> & {
    readonly dataDirectory: string;
    readonly removeTree: RemoveTree;
    readonly uploadTokenKey: Buffer;
    readonly retention: Retention;
    readonly inUse: BuildsInUse;
  };

/** Creates the services for builds and their directories in the data directory. The worker does not run yet. */
export async function createBuildServices(options: BuildServicesOptions): Promise<BuildServices> {
  const places = await openPlaces(options.dataDirectory, options.removeTree);
  const buildLogs = createLogNews();
  const context = { ...options, places, buildLogs };
  return {
    uploadTokenKey: options.uploadTokenKey,
    uploads: createUploadReceiver(context),
    buildLogs,
    worker: createBuildWorker(context),
    removeUnused: () => removeUnused(context, options.retention, options.inUse),
  };
}
