import { ApiError } from '@bothost/contract';
import { queryOptions } from '@tanstack/react-query';
import { getOrganizationApi } from '../organization/organization.ts';
import { findException } from './find-exception.ts';
import { checkSessionAccess, type SessionAccess } from './session-access.ts';

/** Asks the service whether the agent exists and serves, and checks the public key if one is used. */
export function agentReadinessQuery(access: SessionAccess, agent: string) {
  return queryOptions({
    queryKey: ['agent readiness', access, agent],
    queryFn: ({ signal }) => checkSessionAccess(access, agent, signal),
    retry: (count, error) => count < 1 && !(error instanceof ApiError),
  });
}

const lastLineCount = 40;

/** Reads the last lines that a bot logged in a session, again until they contain an exception or ten seconds have passed. */
export function lastLinesQuery(organization: string, agent: string, sessionId: string) {
  return queryOptions({
    queryKey: ['last lines', organization, agent, sessionId],
    queryFn: async ({ signal }) => {
      const query = { sessionId, limit: lastLineCount, order: 'desc' } as const;
      const { logs } = await getOrganizationApi(organization).getLogs({ params: { agentName: agent }, query }, signal);
      return logs.map(({ log }) => log).reverse();
    },
    // The bot may log its exception after the connection was closed.
    refetchInterval: ({ state }) =>
      findException(state.data ?? []) === null && state.dataUpdateCount < 10 ? 1_000 : false,
  });
}

export function organizationsWithAgentQuery(organizations: readonly string[], agentName: string) {
  return queryOptions({
    queryKey: ['organizations with agent', agentName, organizations],
    queryFn: async ({ signal }) => {
      const names = organizations.map(async (name) => {
        const { agents } = await getOrganizationApi(name).listAgents({}, signal);
        return agents.some((agent) => agent.name === agentName) ? [name] : [];
      });
      return (await Promise.all(names)).flat();
    },
  });
}
