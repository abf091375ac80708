import type { ApiClient, Build } from '@bothost/contract';
import { defineCommand } from '../../../command-line/command.ts';
import type { CommandContext } from '../../../command-line/context.ts';
import { Failure } from '../../../failure.ts';
import { createFields } from '../../../output/fields.ts';
import { formatBuildStatusCell } from '../../../records/build-status.ts';

export const command = defineCommand({
  summary: 'Cancel a queued or running build',
  details: 'Waits until the build has stopped. A build that has ended cannot be canceled.',
  arguments: { id: { description: 'Id of the build' } },
  examples: ['cloud build cancel 0192f0c1-2345-7000-8000-00000000abcd'],
  run: async (context, { id }) => {
    const client = await context.service();
    const params = { buildId: id };
    const { build: requested } = await client.cancelBuild({ params });
    const build = requested.status === 'canceled' ? requested : await waitUntilEnded(context, client, id);
    if (build.status !== 'canceled') {
      throw new Failure(
        'build-ended',
        `The build ${id} ended with status ${build.status} before it could be canceled.`,
      );
    }
    const fields = createFields([
      ['Build', build.id],
      ['Status', formatBuildStatusCell(build)],
    ]);
    return { json: build, blocks: [fields] };
  },
});

/** Follows the build's log until it ends, which is when the build has ended. */
async function waitUntilEnded(context: CommandContext, client: ApiClient, buildId: string): Promise<Build> {
  const { withRetries } = await import('../../../connection/retry.ts');
  const params = { buildId };
  let nextToken: string | undefined;
  do {
    const query = { limit: 10_000, wait: 20, nextToken };
    ({ nextToken } = await withRetries(context, () => client.getBuildLogs({ params, query }, context.io.signal)));
  } while (nextToken !== undefined);
  return (await client.getBuild({ params })).build;
}
