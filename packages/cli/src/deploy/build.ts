import type { Build, Client } from '@bothost/contract';
import type { Context } from '../command-line/context.ts';
import { Failure } from '../failure.ts';
import { printableLog } from '../output/log-text.ts';
import type { Archive } from '../pack/archive.ts';
import { withRetries } from '../service/retry.ts';
import { withInterruptNotice } from './interrupt-notice.ts';
import { upload } from './upload.ts';

export type BuildResult = {
  readonly build: Build;
  /** Bytes that had to be sent. */
  readonly sentBytes: number;
  /** Whether it was there before, and nothing was prepared. */
  readonly isCached: boolean;
};

/**
 * The build of an archive: the one that is there, or a new one, whose log is shown while it goes on. A build that does
 * not succeed is a `Failure`.
 */
export async function obtainBuild(
  context: Pick<Context, 'io' | 'messages' | 'settings'>,
  client: Client,
  archive: Archive,
  place: { readonly region: string; readonly dockerfile: string | undefined },
): Promise<BuildResult> {
  const query = { contentHash: archive.contentHash, region: place.region, status: 'success', limit: 1 } as const;
  const { builds } = await withRetries(context, () => client.listBuilds({ query }));
  const [found] = builds;
  if (found !== undefined) return { build: found, sentBytes: 0, isCached: true };
  const { uploadId, sentBytes } = await withInterruptNotice(
    context,
    'What was uploaded is kept: run the same deploy again to resume.',
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
    () => followBuild(context, client, build.id),
  );
  return { build: made, sentBytes, isCached: false };
}

/** Shows the log of a build until it is over. */
async function followBuild(context: Pick<Context, 'io' | 'messages'>, client: Client, buildId: string): Promise<Build> {
  const { messages, io } = context;
  const begun = io.now().getTime();
  // On a terminal the time is seen going by; elsewhere one long question is as good.
  const wait = messages.isLive ? 1 : 20;
  let nextToken: string | undefined;
  // The first line comes when it has its turn: an organization's builds are made one after the other.
  let hasBegun = false;
  do {
    const seconds = Math.floor((io.now().getTime() - begun) / 1_000);
    messages.status(`${hasBegun ? 'Building' : 'Waiting for the build to begin'}, ${seconds} s`);
    const query = { wait, ...(nextToken === undefined ? {} : { nextToken }) };
    const page = await withRetries(context, () => client.getBuildLogs({ params: { buildId }, query }));
    for (const line of page.logs) messages.notify(`  ${printableLog(line.replace(/^\S+ /, ''), false)}`);
    hasBegun ||= page.logs.length > 0;
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  messages.status(null);
  const { build } = await withRetries(context, () => client.getBuild({ params: { buildId } }));
  if (build.status !== 'success') throw buildFailure(build);
  return build;
}

export function buildFailure(build: Build): Failure {
  // The last output of a command comes below the sentence, one line each.
  const [why = '', ...output] = (build.errorMessage ?? 'Its log says why.').trimEnd().split('\n');
  const what = build.status === 'timeout' ? 'took too long' : 'failed';
  return new Failure(
    'build-failed',
    build.status === 'canceled' ? `The build ${build.id} was canceled.` : `The build ${build.id} ${what}: ${why}`,
    `Nothing was deployed. Its full log: botcli cloud build logs ${build.id}`,
    output.map((line) => ({ path: '', message: printableLog(line, false) })),
    { build },
  );
}
