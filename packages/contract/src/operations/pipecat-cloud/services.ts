import { z } from 'zod';
import { everyone } from '../../authorization.ts';
import { itemsPerPage } from '../../limits.ts';
import { defineOperation } from '../../operation.ts';
import { ResourceName } from '../../resource-name.ts';
import {
  AgentDetails,
  AgentListItem,
  createAgent,
  deleteAgent,
  getAgent,
  listAgents,
  UpdateAgentRequest,
  updateAgent,
} from '../agents.ts';
import { listDeployments } from '../deployments.ts';
import { AgentPathParameters, noFields, requestWithoutBody } from '../fields.ts';
import { getLogs } from '../logs.ts';
import { getSession, getSessions, stopSession } from '../sessions.ts';

/** In Pipecat Cloud's CLI, agents are services, with paths only below `/v1/organizations/{organization}`. */
const place = { tag: 'pipecat-cloud', key: 'organization' } as const;

/**
 * The default is the maximum, because Pipecat Cloud's CLI sends neither `limit` nor `offset`, and counts the items of the first
 * response to compute totals.
 */
const wholeList = {
  limit: z.coerce.number<number>().int().min(1).max(itemsPerPage.maximum).default(itemsPerPage.maximum),
};

export const listServices = defineOperation({
  ...listAgents,
  ...place,
  name: 'listServices',
  path: '/services',
  query: z.object({ region: z.string().optional(), include: z.string().optional().describe('Ignored') }),
  response: z.object({ services: z.array(AgentListItem) }),
});

export const getService = defineOperation({
  ...requestWithoutBody,
  ...place,
  grantees: everyone,
  name: 'getService',
  summary: getAgent.summary,
  path: '/services/{agentName}',
  params: AgentPathParameters,
  response: z.object({ body: AgentDetails }),
  errors: ['not-found'],
});

export const createService = defineOperation({ ...createAgent, ...place, name: 'createService', path: '/services' });

export const updateService = defineOperation({
  ...updateAgent,
  ...place,
  name: 'updateService',
  method: 'PUT',
  path: '/services',
  params: noFields,
  body: UpdateAgentRequest.extend({ serviceName: ResourceName }),
});

export const deleteService = defineOperation({
  ...deleteAgent,
  ...place,
  name: 'deleteService',
  path: '/services/{agentName}',
});

export const getServiceLogs = defineOperation({
  ...getLogs,
  ...place,
  name: 'getServiceLogs',
  path: '/services/{agentName}/logs',
});

export const listServiceDeployments = defineOperation({
  ...listDeployments,
  ...place,
  name: 'listServiceDeployments',
  path: '/services/{agentName}/deployments',
  query: listDeployments.query.extend(wholeList),
});

export const getServiceSessions = defineOperation({
  ...getSessions,
  ...place,
  name: 'getServiceSessions',
  path: '/services/{agentName}/sessions',
  query: getSessions.query.extend(wholeList),
});

export const getServiceSession = defineOperation({
  ...getSession,
  ...place,
  name: 'getServiceSession',
  path: '/services/{agentName}/sessions/{sessionId}',
});

/**
 * Responds with success for a session that has ended, and with 409 for a session that does not exist, because Pipecat Cloud's CLI
 * treats 404 as success.
 */
export const stopServiceSession = defineOperation({
  ...stopSession,
  ...place,
  name: 'stopServiceSession',
  path: '/services/{agentName}/sessions/{sessionId}',
  errors: ['not-found', 'nothing-to-stop'],
});
