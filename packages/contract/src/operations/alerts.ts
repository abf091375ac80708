import { z } from 'zod';
import { type AlertKind, alertKinds, alertWindowMinutes } from '../alert-kinds.ts';
import { editors, everyone } from '../authorization.ts';
import { defineOperation } from '../operation.ts';
import { AgentPathParameters, IsoDateTime, requestWithBody, requestWithoutBody, Uuid } from './fields.ts';

const kinds = Object.keys(alertKinds) as [AlertKind, ...AlertKind[]];

const Alert = z
  .object({
    id: Uuid,
    agentName: z.string(),
    kind: z.enum(kinds),
    threshold: z.number().int().nullable().describe('Null for failed_deployment'),
    windowMinutes: z.number().int().nullable().describe('Null for kinds that do not look back'),
    createdAt: IsoDateTime,
    incident: z
      .object({ id: Uuid, openedAt: IsoDateTime, value: z.number().int().describe('The value when it was opened') })
      .nullable()
      .describe('The open incident'),
  })
  .meta({ id: 'Alert' });
export type Alert = z.infer<typeof Alert>;

function thresholdOf(kind: Exclude<AlertKind, 'failed_deployment'>) {
  const { description, threshold } = alertKinds[kind];
  const value = z.number().int().min(1).max(threshold.maximum).default(threshold.default);
  return value.describe(`${description}, in ${threshold.unit}`);
}
const windowMinutes = z.number().int().min(1).max(alertWindowMinutes.maximum).default(alertWindowMinutes.default);
const AlertRule = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('failed_sessions'), threshold: thresholdOf('failed_sessions'), windowMinutes }),
  z.object({ kind: z.literal('response_time'), threshold: thresholdOf('response_time'), windowMinutes }),
  z.object({ kind: z.literal('capacity'), threshold: thresholdOf('capacity') }),
  z.object({ kind: z.literal('failed_deployment') }),
]);

const alertOperation = { tag: 'webhooks', key: 'private' } as const;

export const listAlerts = defineOperation({
  ...requestWithoutBody,
  ...alertOperation,
  grantees: everyone,
  name: 'listAlerts',
  summary: 'List the alerts of all agents, with their open incidents',
  path: '/alerts',
  response: z.object({ alerts: z.array(Alert) }),
  errors: [],
});

export const createAlert = defineOperation({
  ...requestWithBody,
  ...alertOperation,
  grantees: editors,
  name: 'createAlert',
  summary: 'Create an alert of an agent, which sends alert.opened and alert.closed to webhooks',
  audit: 'alerts.create',
  path: '/agents/{agentName}/alerts',
  params: AgentPathParameters,
  body: AlertRule,
  status: 201,
  response: Alert,
  errors: ['invalid-request', 'not-found', 'alerts-too-many'],
});

export const deleteAlert = defineOperation({
  ...requestWithoutBody,
  ...alertOperation,
  grantees: editors,
  name: 'deleteAlert',
  summary: 'Delete an alert. This closes its open incident',
  method: 'DELETE',
  audit: 'alerts.delete',
  path: '/agents/{agentName}/alerts/{alertId}',
  params: AgentPathParameters.extend({ alertId: z.string() }),
  response: Alert,
  errors: ['not-found', 'alert-not-found'],
});
