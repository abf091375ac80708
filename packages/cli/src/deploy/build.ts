import type { ApiClient, Build } from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { withRetries } from '../connection/retry.ts';
import { Failure } from '../failure.ts';
import { secondsBetween } from '../output/format.ts';
import { escapeLogLine } from '../output/log-text.ts';
import { type PackableProject, withArchiveFile } from '../pack/pack-project.ts';
import { withInterruptNotice } from './interrupt-notice.ts';
import { uploadArchive } from './upload.ts';

/** Finds a successful build of the same content, or starts a build and shows its log. Throws a `Failure` if the build fails. */
export async function findOrCreateBuild(
  context: Pick<CommandContext, 'io' | 'messages' | 'settings'>,
  client: ApiClient,
  project: PackableProject,
  target: { readonly region: string; readonly dockerfile: string | undefined },
): Promise<Build> {
  const query = { contentHash: project.contentHash, region: target.region, status: 'success', limit: 1 } as const;
  const { builds } = await withRetries(context, () => client.listBuilds({ query }));
  const [existing] = builds;
  if (existing !== undefined) return existing;
  const uploadId = await withArchiveFile(context, project, (archive) =>
    withInterruptNotice(context, 'The uploaded part is kept. To resume the upload, run the same deploy again.', () =>
      uploadArchive(context, client, archive, target.region),
    ),
  );
  const dockerfilePath = target.dockerfile === undefined ? {} : { dockerfilePath: target.dockerfile };
  const { build, cached } = await withRetries(context, () =>
    client.createBuild({ body: { uploadId, region: target.region, ...dockerfilePath } }),
  );
  if (cached) return build;
  context.messages.notify(`Build ${build.id}`);
  return withInterruptNotice(
    context,
    `The build continues in the service. To follow the build, run the same deploy again. To cancel it, run: botcli cloud build cancel ${build.id}`,
    () => followBuild(context, client, build),
  );
}

/** Shows the log of a build until the build ends. An earlier run of the command may have started the build. */
async function followBuild(
  context: Pick<CommandContext, 'io' | 'messages'>,
  client: ApiClient,
  created: Build,
): Promise<Build> {
  const { messages, io } = context;
  const params = { buildId: created.id };
  const getBuild = async () => (await withRetries(context, () => client.getBuild({ params }))).build;
  // `wait` is in seconds. On a terminal, each log request waits at most one second, so that the elapsed time is updated every
  // second.
  const wait = messages.isLive ? 1 : 20;
  let build = created;
  let nextToken: string | undefined;
  do {
    // Builds of one organization run one after another, so a build can be pending for a while.
    if (messages.isLive && build.startedAt === null) build = await getBuild();
    messages.status(formatProgress(build, io.now()));
    const query = { wait, ...(nextToken === undefined ? {} : { nextToken }) };
    const page = await withRetries(context, () => client.getBuildLogs({ params, query }));
    for (const line of page.logs) messages.notify(`  ${escapeLogLine(line.replace(/^\S+ /, ''), false)}`);
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  messages.status(null);
  build = await getBuild();
  if (build.status !== 'success') throw createBuildFailure(build);
  return build;
}

/**
 * Formats how long a build has been queued or running. Uses the service's timestamps, because an earlier run of botcli may have
 * started the build.
 */
function formatProgress({ startedAt, createdAt }: Build, now: Date): string {
  const seconds = Math.max(0, Math.floor(secondsBetween(startedAt ?? createdAt, now)));
  return startedAt === null ? `Build is queued, ${seconds} s` : `Building, ${seconds} s`;
}

export function createBuildFailure(build: Build): Failure {
  // The first line of `errorMessage` is the error. The other lines are the last output of the failed command.
  const [reason = '', ...output] = (build.errorMessage ?? 'The log may show the cause.').trimEnd().split('\n');
  const messages: Partial<Record<Build['status'], string>> = {
    pending: `The build ${build.id} has not started yet.`,
    building: `The build ${build.id} has not ended yet.`,
    canceled: `The build ${build.id} was canceled.`,
    timeout: `The build ${build.id} took too long: ${reason}`,
  };
  return new Failure(
    'build-failed',
    messages[build.status] ?? `The build ${build.id} failed: ${reason}`,
    `Nothing was deployed. To show the full log, run: botcli cloud build logs ${build.id} --full`,
    { issues: output.map((line) => ({ path: '', message: escapeLogLine(line, false) })), details: { build } },
  );
}
