import {
  acceptInvitation,
  changeEmail,
  changePassword,
  createPersonalToken,
  decideAuthorization,
  decideDeviceLogin,
  describeLink,
  exchangeAuthorizationCode,
  finishOpenIdSignIn,
  getDeviceLogin,
  getSignInMethods,
  getUser,
  listPersonalTokens,
  pollDeviceLogin,
  resetPassword,
  revokePersonalToken,
  signIn,
  signOut,
  signOutEverywhere,
  signUp,
  startDeviceLogin,
  startOpenIdSignIn,
  updateUser,
} from './account.ts';
import { createAgent, deleteAgent, getAgent, listAgents, rollback, updateAgent } from './agents.ts';
import { listAuditEntries, verifyAudit } from './audit.ts';
import { cancelBuild, createBuild, getBuild, getBuildLogs, getBuildUploadUrl, listBuilds } from './builds.ts';
import { getDeployment, listDeployments } from './deployments.ts';
import { createKey, listKeys, revokeKey } from './keys.ts';
import { getLogs } from './logs.ts';
import {
  createInvitation,
  createOrganization,
  deleteOrganization,
  leaveOrganization,
  listInvitations,
  listMembers,
  removeMember,
  revokeInvitation,
  transferOrganization,
  updateMember,
  updateOrganization,
} from './members.ts';
import {
  createOperatorInvitation,
  createOperatorKey,
  createPasswordReset,
  getVault,
  rotateVault,
  verifyVault,
} from './operator.ts';
import {
  getProperties,
  getPropertiesSchema,
  listOrganizations,
  listRegions,
  updateProperties,
} from './organizations.ts';
import { getOverview } from './overview.ts';
import { pipecatCloudOperations } from './pipecat-cloud/all.ts';
import { deleteSecret, deleteSecretSet, putSecrets, rollBackSecrets } from './secret-writes.ts';
import { getSecretHistory, getSecretSet, listSecrets, verifyImagePullSecret } from './secrets.ts';
import { getSession, getSessions, listOrganizationSessions, stopSession } from './sessions.ts';
import { checkAgent, startMemberSession, startSession } from './start.ts';

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
  getOverview,
  listAgents,
  getAgent,
  createAgent,
  updateAgent,
  deleteAgent,
  listDeployments,
  getDeployment,
  rollback,
  listOrganizationSessions,
  getSessions,
  getSession,
  stopSession,
  startSession,
  startMemberSession,
  checkAgent,
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
  createOperatorInvitation,
  createPasswordReset,
  getSignInMethods,
  signIn,
  describeLink,
  signUp,
  resetPassword,
  startOpenIdSignIn,
  finishOpenIdSignIn,
  startDeviceLogin,
  pollDeviceLogin,
  exchangeAuthorizationCode,
  getUser,
  updateUser,
  changeEmail,
  changePassword,
  signOut,
  signOutEverywhere,
  listPersonalTokens,
  createPersonalToken,
  revokePersonalToken,
  getDeviceLogin,
  decideDeviceLogin,
  decideAuthorization,
  acceptInvitation,
  createOrganization,
  updateOrganization,
  deleteOrganization,
  transferOrganization,
  leaveOrganization,
  listMembers,
  updateMember,
  removeMember,
  listInvitations,
  createInvitation,
  revokeInvitation,
} as const;

/** All operations that the server has routes for. */
export const allOperations = { ...operations, ...pipecatCloudOperations } as const;

export type Operations = typeof operations;
export type AllOperations = typeof allOperations;
export type OperationName = keyof Operations;
