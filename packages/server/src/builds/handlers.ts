import type { ServiceContext } from '../context.ts';
import type { ApiOperationHandlers } from '../operation-handlers.ts';
import { beginUpload } from './begin-upload.ts';
import { cancelBuild } from './cancel.ts';
import { createBuild } from './create.ts';
import { getBuild } from './get.ts';
import { listBuilds } from './list.ts';
import { readBuildLog } from './read-log.ts';

export function createBuildHandlers(
  context: Pick<ServiceContext, 'db' | 'now' | 'newId' | 'host' | 'disk' | 'builds'>,
) {
  return {
    getBuildUploadUrl: ({ body }, caller) => beginUpload({ ...context, ...context.builds }, caller, body),
    createBuild: async ({ body }, caller) => {
      const created = await createBuild({ ...context, ...context.builds }, caller, body);
      context.builds.worker.wake();
      return created;
    },
    listBuilds: ({ query }, caller) => listBuilds(context, caller, query),
    getBuild: ({ params }, caller) => getBuild(context, caller, params.buildId),
    cancelBuild: async ({ params }, caller) => {
      const canceled = await cancelBuild({ ...context, ...context.builds }, caller, params.buildId);
      context.builds.worker.wake();
      return canceled;
    },
    getBuildLogs: ({ params, query }, caller, _, canceled) =>
      readBuildLog({ ...context, ...context.builds, canceled: canceled() }, caller, params.buildId, query),
  } satisfies Partial<ApiOperationHandlers>;
}
