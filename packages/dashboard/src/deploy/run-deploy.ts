import {
  type AcceptedDeployment,
  type AgentSettings,
  type ApiClient,
  type Build,
  fetchAgentDetails,
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

/** Thrown if a build fails or is canceled. */
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
  const build = await findOrCreateBuild(context, request, region);
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

/**
 * Returns an existing successful build of the same content. If there is none, packs and uploads the project, and waits for its
 * build.
 */
async function findOrCreateBuild(context: DeployContext, request: DeployRequest, region: string): Promise<Build> {
  const { api, onProgress, signal } = context;
  const { project, dockerfile } = request;
  const query = { contentHash: project.contentHash, region, status: 'success', limit: 1 } as const;
  const { builds } = await withRetries(() => api.listBuilds({ query }, signal), signal);
  const [known] = builds;
  if (known !== undefined) {
    onProgress({ build: known, isCached: true });
    return known;
  }
  const content = await packProject(project, signal);
  const uploadId = await uploadArchive(api, {
    content,
    contentHash: project.contentHash,
    region,
    signal,
    onProgress: (sentBytes) => onProgress({ upload: { sentBytes, totalBytes: content.size } }),
  });
  const body = { uploadId, region, ...(dockerfile === undefined ? {} : { dockerfilePath: dockerfile }) };
  const { build, cached } = await withRetries(() => api.createBuild({ body }, signal), signal);
  onProgress({ build, isCached: cached });
  return cached ? build : followBuild(context, build.id);
}

async function followBuild({ api, onProgress, signal }: DeployContext, buildId: string): Promise<Build> {
  const params = { buildId };
  const logLines: string[] = [];
  let nextToken: string | undefined;
  let isStarted = false;
  do {
    const query = { wait: 20, ...(nextToken === undefined ? {} : { nextToken }) };
    const page = await withRetries(() => api.getBuildLogs({ params, query }, signal), signal);
    // Remove the timestamp at the beginning of each line.
    logLines.push(...page.logs.map((line) => line.replace(/^\S+ /, '')));
    nextToken = page.nextToken;
    onProgress({ logLines: [...logLines] });
    if (!isStarted && logLines.length > 0) {
      isStarted = true;
      onProgress(await withRetries(() => api.getBuild({ params }, signal), signal));
    }
  } while (nextToken !== undefined);
  const { build } = await withRetries(() => api.getBuild({ params }, signal), signal);
  onProgress({ build });
  return build;
}
