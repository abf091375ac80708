import { queryOptions } from '@tanstack/react-query';
import { createOrganizationQueryKey, getOrganizationApi } from '../organization/organization.ts';

const refreshMs = 2_000;

export function buildQuery(organization: string, buildId: string) {
  return queryOptions({
    queryKey: [...createOrganizationQueryKey(organization), 'builds', buildId],
    queryFn: async ({ signal }) => {
      const { build } = await getOrganizationApi(organization).getBuild({ params: { buildId } }, signal);
      return build;
    },
    refetchInterval: ({ state }) => (state.data?.completedAt === null ? refreshMs : false),
  });
}

/** Reads the whole log of a build, with the lines of uv and npm for each package. Repeats that while the build runs. */
export function buildLogQuery(organization: string, buildId: string) {
  return queryOptions({
    queryKey: [...createOrganizationQueryKey(organization), 'builds', buildId, 'log'],
    queryFn: async ({ signal }) => {
      const lines: string[] = [];
      let isComplete = false;
      for (let nextToken: string | undefined; !isComplete; ) {
        const query = { full: 'true', limit: 10_000, nextToken } as const;
        const page = await getOrganizationApi(organization).getBuildLogs({ params: { buildId }, query }, signal);
        lines.push(...page.logs);
        if (page.nextToken !== undefined && page.logs.length === 0) break;
        ({ nextToken } = page);
        isComplete = nextToken === undefined;
      }
      return { lines, isComplete };
    },
    refetchInterval: ({ state }) => (state.data?.isComplete === false ? refreshMs : false),
  });
}
