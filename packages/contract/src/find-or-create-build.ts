import type { ApiClient } from './client.ts';
import type { Build } from './operations/builds.ts';

/** What to build. `contentHash` is the hash of the packed files. */
export type BuildSource = {
  readonly contentHash: string;
  readonly region: string;
  readonly dockerfile: string | undefined;
};

type RequestOptions = {
  readonly signal: AbortSignal;
  /** Repeats a request after transient errors. */
  readonly retry: <T>(request: () => Promise<T>) => Promise<T>;
};

type BuildSteps = RequestOptions & {
  /** Uploads the archive and returns the id of the upload. Called only if no build of the same content exists. */
  readonly upload: () => Promise<string>;
  /** Waits for the end of a new build, for example with `followBuild`. */
  readonly follow: (build: Build) => Promise<Build>;
};

/** Finds a successful build of the same content, or uploads and builds the content. The build may have failed. */
export async function findOrCreateBuild(
  client: ApiClient,
  { contentHash, region, dockerfile }: BuildSource,
  { signal, retry, upload, follow }: BuildSteps,
): Promise<{ readonly build: Build; readonly isCached: boolean }> {
  const query = { contentHash, region, status: 'success', limit: 1 } as const;
  const { builds } = await retry(() => client.listBuilds({ query }, signal));
  const [existing] = builds;
  if (existing !== undefined) return { build: existing, isCached: true };
  const uploadId = await upload();
  const body = { uploadId, region, ...(dockerfile === undefined ? {} : { dockerfilePath: dockerfile }) };
  const { build, cached } = await retry(() => client.createBuild({ body }, signal));
  return { build: cached ? build : await follow(build), isCached: cached };
}

type BuildFollower = RequestOptions & {
  /** How long a request for the log waits for new lines, in seconds. */
  readonly waitSeconds: number;
  /** Called before each request for the log. */
  readonly onBuild: (build: Build) => void;
  /** Called with new lines of the log, without their times. */
  readonly onLines: (lines: readonly string[]) => void;
};

/** Reads the log of a build until the build ends. */
export async function followBuild(
  client: ApiClient,
  created: Build,
  { signal, retry, waitSeconds, onBuild, onLines }: BuildFollower,
): Promise<Build> {
  const params = { buildId: created.id };
  const getBuild = async () => (await retry(() => client.getBuild({ params }, signal))).build;
  let build = created;
  let nextToken: string | undefined;
  do {
    // Builds of one organization run one after another, so a build can be pending for a while.
    if (build.startedAt === null) build = await getBuild();
    onBuild(build);
    const query = { wait: waitSeconds, ...(nextToken === undefined ? {} : { nextToken }) };
    const page = await retry(() => client.getBuildLogs({ params, query }, signal));
    onLines(page.logs.map((line) => line.replace(/^\S+ /, '')));
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  return getBuild();
}

/** Splits the error message of a build. The first line is the error, the others are the last output of the failed command. */
export function splitBuildError({ errorMessage }: Build): { readonly reason: string; readonly output: string[] } {
  const [reason = '', ...output] = (errorMessage ?? 'The log may show the cause.').trimEnd().split('\n');
  return { reason, output };
}
