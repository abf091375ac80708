import type { Build, Client } from '@bothost/contract';
import type { Context } from '../command-line/context.ts';
import { Failure } from '../failure.ts';
import { secondsBetween } from '../output/format.ts';
import { printableLog } from '../output/log-text.ts';
import type { Archive } from '../pack/archive.ts';
import { withRetries } from '../service/retry.ts';
import { withInterruptNotice } from './interrupt-notice.ts';
import { upload } from './upload.ts';

export type BuildResult = {
  readonly build: Build;
  /** Bytes that were uploaded. */
  readonly sentBytes: number;
  /** Whether the build existed before. */
  readonly isCached: boolean;
};

/** Finds a build of the same content, or creates one and shows its log. Throws a `Failure` if the build does not succeed. */
export async function obtainBuild(
  context: Pick<Context, 'io' | 'messages' | 'settings'>,
  client: Client,
  archive: Archive,
  place: { readonly region: string; readonly dockerfile: string | undefined },
): Promise<BuildResult> {
  const query = { contentHash: archive.contentHash, region: place.region, status: 'success', limit: 1 } as const;
  const { builds } = await withRetries(context, () => client.listBuilds({ query }));
  const [existing] = builds;
  if (existing !== undefined) return { build: existing, sentBytes: 0, isCached: true };
  const { uploadId, sentBytes } = await withInterruptNotice(
    context,
    'The uploaded part is kept. Run the same deploy again to resume.',
    () => upload(context, client, archive, place.region),
  );
  const dockerfilePath = place.dockerfile === undefined ? {} : { dockerfilePath: place.dockerfile };
  const { build, cached } = await withRetries(context, () =>
    client.createBuild({ body: { uploadId, region: place.region, ...dockerfilePath } }),
  );
  if (cached) return { build, sentBytes, isCached: true };
  context.messages.notify(`Build ${build.id}`);
  const made = await withInterruptNotice(
    context,
    `The build continues in the service. Run the same deploy again to follow it, or cancel it: botcli cloud build cancel ${build.id}`,
    () => followBuild(context, client, build),
  );
  return { build: made, sentBytes, isCached: false };
}

/** Shows the log of a build until it ends. The build may have been started by an earlier run of this command. */
async function followBuild(context: Pick<Context, 'io' | 'messages'>, client: Client, created: Build): Promise<Build> {
  const { messages, io } = context;
  const params = { buildId: created.id };
  const getBuild = async () => (await withRetries(context, () => client.getBuild({ params }))).build;
  // On a terminal, poll every second to update the elapsed time.
  const wait = messages.isLive ? 1 : 20;
  let build = created;
  let nextToken: string | undefined;
  do {
    // An organization's builds run one at a time, so a build can be pending for a while.
    if (messages.isLive && build.startedAt === null) build = await getBuild();
    messages.status(progressOf(build, io.now()));
    const query = { wait, ...(nextToken === undefined ? {} : { nextToken }) };
    const page = await withRetries(context, () => client.getBuildLogs({ params, query }));
    for (const line of page.logs) messages.notify(`  ${printableLog(line.replace(/^\S+ /, ''), false)}`);
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  messages.status(null);
  build = await getBuild();
  if (build.status !== 'success') throw buildFailure(build);
  return build;
}

/** The elapsed time counts from the service's record, so it is right for a build that has been running for a while. */
function progressOf({ startedAt, createdAt }: Build, now: Date): string {
  const seconds = Math.max(0, Math.floor(secondsBetween(startedAt ?? createdAt, now)));
  return startedAt === null ? `Build is queued, ${seconds} s` : `Building, ${seconds} s`;
}

export function buildFailure(build: Build): Failure {
  // The first line is the error, the others are the last output of the failed command.
  const [why = '', ...output] = (build.errorMessage ?? 'See its log.').trimEnd().split('\n');
  const what = build.status === 'timeout' ? 'took too long' : 'failed';
  return new Failure(
    'build-failed',
    build.status === 'canceled' ? `The build ${build.id} was canceled.` : `The build ${build.id} ${what}: ${why}`,
    `Nothing was deployed. Show the full log with: botcli cloud build logs ${build.id} --full`,
    output.map((line) => ({ path: '', message: printableLog(line, false) })),
    { build },
  );
}
