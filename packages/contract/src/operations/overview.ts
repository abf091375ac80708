import { z } from 'zod';
import { everyone } from '../authorization.ts';
import { defineOperation } from '../operation.ts';
import { lastDeployLabels, listStatusValues, servingLabels } from '../statuses.ts';
import { IsoDateTime, requestWithoutBody, Uuid } from './fields.ts';

const count = z.number().int();

const AttentionItem = z
  .object({
    kind: z
      .enum(['deployment-failed', 'starts-failing', 'at-capacity', 'sessions-failed'])
      .describe('Later versions may add others'),
    agentName: z.string(),
    serving: z.enum(listStatusValues(servingLabels)).describe('Whether the agent serves sessions'),
    lastDeploy: z.enum(listStatusValues(lastDeployLabels)).describe('Result of the last deploy of the agent'),
    cause: z.string(),
    since: IsoDateTime.nullable(),
    sessionId: Uuid.nullable().describe('The latest session with this problem'),
  })
  .meta({ id: 'Attention' });
export type AttentionItem = z.infer<typeof AttentionItem>;

/** Figures over all agents of an organization. `starts` and `ends` cover the session starts and ends of the last hour. */
export const Overview = z
  .object({
    agentCount: count,
    sessions: z.object({
      live: count.describe('Sessions that have an instance'),
      capacity: count.describe('How many sessions the serving deployments may have at the same time'),
    }),
    warmPool: z.object({
      ready: count.describe('Instances that are ready for a session'),
      starting: count.describe('Instances that start, also for waiting sessions'),
      minimum: count.describe('How many instances the serving deployments keep ready'),
    }),
    starts: z.object({
      count,
      cold: count,
      p50Ms: count.nullable().describe('From the start request to the bot that has the session, nearest rank'),
      p99Ms: count.nullable(),
    }),
    ends: z.object({ count, failed: count }),
    attention: z.array(AttentionItem).describe('What needs attention, by agent'),
  })
  .meta({ id: 'Overview' });
export type Overview = z.infer<typeof Overview>;

export const getOverview = defineOperation({
  ...requestWithoutBody,
  name: 'getOverview',
  summary: 'Get live sessions, capacity, start latency and problems of the organization',
  tag: 'organizations',
  key: 'private',
  grantees: everyone,
  path: '/overview',
  response: Overview,
  errors: [],
});
