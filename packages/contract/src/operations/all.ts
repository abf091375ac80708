import { pickOperations } from '../operation.ts';
import * as account from './account.ts';
import * as agents from './agents.ts';
import * as alerts from './alerts.ts';
import * as audit from './audit.ts';
import * as builds from './builds.ts';
import * as conversations from './conversations.ts';
import * as deployments from './deployments.ts';
import * as keys from './keys.ts';
import * as logs from './logs.ts';
import * as members from './members.ts';
import * as operator from './operator.ts';
import * as organizations from './organizations.ts';
import * as overview from './overview.ts';
import * as participants from './participants.ts';
import * as phone from './phone.ts';
import { pipecatCloudOperations } from './pipecat-cloud/all.ts';
import * as rooms from './rooms.ts';
import * as secretWrites from './secret-writes.ts';
import * as secrets from './secrets.ts';
import * as sessions from './sessions.ts';
import * as start from './start.ts';
import * as statistics from './statistics.ts';
import * as webhooks from './webhooks.ts';

/** The server's handlers and the client are mapped types over this object, so a missing handler does not compile. */
export const operations = pickOperations({
  ...account,
  ...agents,
  ...alerts,
  ...audit,
  ...builds,
  ...conversations,
  ...deployments,
  ...keys,
  ...logs,
  ...members,
  ...operator,
  ...organizations,
  ...overview,
  ...participants,
  ...rooms,
  ...phone,
  ...secretWrites,
  ...secrets,
  ...sessions,
  ...start,
  ...statistics,
  ...webhooks,
});

export const allOperations = { ...operations, ...pipecatCloudOperations } as const;

export type Operations = typeof operations;
export type AllOperations = typeof allOperations;
export type OperationName = keyof Operations;
