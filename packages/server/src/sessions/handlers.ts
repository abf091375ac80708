import type { ServiceContext } from '../context.ts';
import type { ApiOperationHandlers } from '../operation-handlers.ts';
import { admitParticipant } from './admit-participant.ts';
import { getSession } from './get.ts';
import { listOrganizationSessions, listSessions } from './list.ts';
import { getOverview } from './overview.ts';
import { listSessionProblems } from './problems.ts';
import { getStatistics } from './statistics.ts';
import { stopSession } from './stop.ts';

export function createSessionHandlers(
  context: Pick<ServiceContext, 'db' | 'now' | 'readEventText' | 'liveKitRooms' | 'telemetry' | 'reconciler'>,
) {
  return {
    getOverview: (_, caller) => getOverview(context, caller),
    getStatistics: ({ query }, caller) => getStatistics(context, caller, query),
    listSessionProblems: ({ query }, caller) => listSessionProblems(context, caller, query),
    listOrganizationSessions: ({ query }, caller) => listOrganizationSessions(context, caller, query),
    getSessions: ({ params, query }, caller) => listSessions(context, caller, params.agentName, query),
    getSession: ({ params }, caller) => getSession(context, caller, params.agentName, params.sessionId),
    admitParticipant: ({ params, body }, caller) => admitParticipant(context, caller, params, body?.name),
    stopSession: async ({ params }, caller) => {
      const { ended } = await stopSession(context, caller, params.agentName, params.sessionId);
      if (ended !== null) context.telemetry.sessionEnded(ended);
      context.reconciler.requestReconcile();
      return { status: 'terminated', session_id: params.sessionId };
    },
  } satisfies Partial<ApiOperationHandlers>;
}
