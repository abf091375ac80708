import { createAgent, deleteAgent, getAgent, listAgents, rollback, updateAgent } from './agents.ts';
import { listAuditEntries, verifyAudit } from './audit.ts';
import { cancelBuild, createBuild, getBuild, getBuildLogs, getBuildUploadUrl, listBuilds } from './builds.ts';
import { getDeployment, listDeployments } from './deployments.ts';
import { createKey, listKeys, revokeKey } from './keys.ts';
import { getLogs } from './logs.ts';
import { createOperatorKey, getVault, rotateVault, verifyVault } from './operator.ts';
import {
  getProperties,
  getPropertiesSchema,
  listOrganizations,
  listRegions,
  updateProperties,
} from './organizations.ts';
import { deleteSecret, deleteSecretSet, putSecrets, rollBackSecrets } from './secret-writes.ts';
import { getSecretHistory, getSecretSet, listSecrets, verifyImagePullSecret } from './secrets.ts';
import { getSession, getSessions, stopSession } from './sessions.ts';
import { startSession } from './start.ts';

/** The server's handlers and the client are mapped types over this object, so a missing handler does not compile. */
export const operations = {
  listOrganizations,
  listRegions,
  getProperties,
  getPropertiesSchema,
  updateProperties,
  listKeys,
  createKey,
  revokeKey,
  listAgents,
  getAgent,
  createAgent,
  updateAgent,
  deleteAgent,
  listDeployments,
  getDeployment,
  rollback,
  getSessions,
  getSession,
  stopSession,
  startSession,
  getLogs,
  getBuildUploadUrl,
  createBuild,
  listBuilds,
  getBuild,
  cancelBuild,
  getBuildLogs,
  listSecrets,
  getSecretSet,
  putSecrets,
  deleteSecret,
  deleteSecretSet,
  getSecretHistory,
  rollBackSecrets,
  verifyImagePullSecret,
  listAuditEntries,
  verifyAudit,
  getVault,
  rotateVault,
  verifyVault,
  createOperatorKey,
} as const;

export type Operations = typeof operations;
export type OperationName = keyof Operations;
