import {
  type AcceptedDeployment,
  type AgentSettings,
  type ApiClient,
  type Build,
  fetchAgentDetails,
  findOrCreateBuild,
  followBuild,
  submitDeployment,
  withRetries,
} from '@bothost/contract';
import type { PackableProject } from '@bothost/packing';
import { packProject } from './pack-project.ts';
import { uploadArchive } from './upload-archive.ts';

export type DeployRequest = {
  readonly project: PackableProject;
  readonly agentName: string;
  /**
   * If undefined, the deploy uses the region of the existing agent or, for a new agent, the default region of the organization.
   */
  readonly region: string | undefined;
  readonly settings: AgentSettings;
  readonly dockerfile: string | undefined;
};

export type DeployProgress = {
  /** Null before the upload starts, and if nothing is uploaded because a build of the same content exists. */
  readonly upload: { readonly sentBytes: number; readonly totalBytes: number } | null;
  readonly build: Build | null;
  readonly isCached: boolean;
  readonly logLines: readonly string[];
  readonly accepted: AcceptedDeployment | null;
};

export class BuildFailedError extends Error {
  override readonly name = 'BuildFailedError';
  readonly build: Build;

  constructor(build: Build) {
    super(`The build ${build.id} did not succeed.`);
    this.build = build;
  }
}

type DeployContext = {
  readonly api: ApiClient;
  readonly onProgress: (change: Partial<DeployProgress>) => void;
  readonly signal: AbortSignal;
};

/** Uploads and builds a project, and creates or updates its agent. Resolves when the service has accepted the deployment. */
export async function runDeploy(context: DeployContext, request: DeployRequest): Promise<void> {
  const { api, onProgress, signal } = context;
  const { agentName, settings } = request;
  const region = await withRetries(() => findRegion(context, request), signal);
  const build = await buildProject(context, request, region);
  if (build.status !== 'success') throw new BuildFailedError(build);
  const retry = <T>(request: () => Promise<T>) => withRetries(request, signal);
  const agent = await retry(() => fetchAgentDetails(api, agentName, signal));
  const target = { agentName, region, latestDeploymentId: agent?.desiredDeploymentId ?? null };
  const body = { ...settings, buildId: build.id };
  onProgress({ accepted: await submitDeployment(api, target, body, { signal, retry }) });
}

async function findRegion({ api, signal }: DeployContext, { agentName, region }: DeployRequest): Promise<string> {
  if (region !== undefined) return region;
  const agent = await fetchAgentDetails(api, agentName, signal);
  if (agent !== null) return agent.region;
  return (await api.getProperties({}, signal)).properties.defaultRegion;
}

/** Builds the project, unless its content was built before. */
async function buildProject(
  { api, onProgress, signal }: DeployContext,
  { project, dockerfile }: DeployRequest,
  region: string,
): Promise<Build> {
  const { contentHash } = project;
  const requests = { signal, retry: <T>(request: () => Promise<T>) => withRetries(request, signal) };
  const logLines: string[] = [];
  const { build, isCached } = await findOrCreateBuild(
    api,
    { contentHash, region, dockerfile },
    {
      ...requests,
      upload: async () => {
        const content = await packProject(project, signal);
        return uploadArchive(api, {
          content,
          contentHash,
          region,
          signal,
          onProgress: (sentBytes) => onProgress({ upload: { sentBytes, totalBytes: content.size } }),
        });
      },
      follow: (created) =>
        followBuild(api, created, {
          ...requests,
          waitSeconds: 20,
          onBuild: (running) => onProgress({ build: running }),
          onLines: (lines) => {
            logLines.push(...lines);
            onProgress({ logLines: [...logLines] });
          },
        }),
    },
  );
  onProgress({ build, isCached });
  return build;
}
