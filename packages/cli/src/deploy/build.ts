import { type ApiClient, type Build, findOrCreateBuild, followBuild, splitBuildError } from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { withRetries } from '../connection/retry.ts';
import { Failure } from '../failure.ts';
import { secondsBetween } from '../output/format.ts';
import { escapeLogLine } from '../output/log-text.ts';
import { type PackableProject, withArchiveFile } from '../pack/pack-project.ts';
import { withInterruptNotice } from './interrupt-notice.ts';
import { uploadArchive } from './upload.ts';

/** Finds a successful build of the same content, or starts a build and shows its log. Throws a `Failure` if the build fails. */
export async function buildProject(
  context: Pick<CommandContext, 'io' | 'messages' | 'settings'>,
  client: ApiClient,
  project: PackableProject,
  target: { readonly region: string; readonly dockerfile: string | undefined },
): Promise<Build> {
  const { io, messages } = context;
  const requests = { signal: io.signal, retry: <T>(request: () => Promise<T>) => withRetries(context, request) };
  const { build } = await findOrCreateBuild(
    client,
    { ...target, contentHash: project.contentHash },
    {
      ...requests,
      upload: () =>
        withArchiveFile(context, project, (archive) =>
          withInterruptNotice(
            context,
            'The uploaded part is kept. To resume the upload, run the same deploy again.',
            () => uploadArchive(context, client, archive, target.region),
          ),
        ),
      follow: (created) => {
        messages.notify(`Build ${created.id}`);
        const notice = `The build continues in the service. To follow the build, run the same deploy again. To cancel it, run: botcli cloud build cancel ${created.id}`;
        return withInterruptNotice(context, notice, () =>
          followBuild(client, created, {
            ...requests,
            // On a terminal, each log request waits at most one second, so that the elapsed time is updated every second.
            waitSeconds: messages.isLive ? 1 : 20,
            onBuild: (running) => messages.status(formatProgress(running, io.now())),
            onLines: (lines) => {
              for (const line of lines) messages.notify(`  ${escapeLogLine(line, false)}`);
            },
          }),
        );
      },
    },
  );
  messages.status(null);
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
  const { reason, output } = splitBuildError(build);
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
