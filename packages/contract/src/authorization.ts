import type { AllOperations } from './operations/all.ts';
import type { Role } from './roles.ts';

/**
 * A kind of caller. On a path with an organization, a person's kind is their role in the organization. On other paths, it is
 * the way in which the person is authenticated: `session` (signed in with a browser) or `personal-token`.
 */
export type OperationGrantee =
  | Role
  | 'session'
  | 'personal-token'
  | 'private-key'
  | 'public-key'
  | 'operator'
  | 'unauthenticated';

const everyone = ['owner', 'member', 'viewer', 'private-key'] as const;
const editors = ['owner', 'member', 'private-key'] as const;
const administrators = ['owner', 'private-key'] as const;
const people = ['session', 'personal-token'] as const;
const owners = ['owner'] as const;
const members = ['owner', 'member', 'viewer'] as const;
const anyone = ['unauthenticated'] as const;
const operator = ['operator'] as const;

/**
 * The principals that may call each operation. A private key belongs to an organization, and may do what an owner may do,
 * except manage people and the organization. On a path without an organization, a personal token cannot create another token,
 * approve a login or change sign-in data.
 */
export const granteesByOperation = {
  listOrganizations: [...people, 'private-key'],
  listRegions: everyone,
  getProperties: everyone,
  getPropertiesSchema: everyone,
  updateProperties: editors,
  listKeys: administrators,
  createKey: administrators,
  revokeKey: administrators,
  getOverview: everyone,
  listAgents: everyone,
  getAgent: everyone,
  createAgent: editors,
  updateAgent: editors,
  deleteAgent: editors,
  listDeployments: everyone,
  getDeployment: everyone,
  rollback: editors,
  listOrganizationSessions: everyone,
  getSessions: everyone,
  getSession: everyone,
  stopSession: editors,
  startSession: ['public-key'],
  // The handler refuses viewers unless the organization allows them to start sessions.
  startMemberSession: members,
  checkAgent: ['public-key'],
  getLogs: everyone,
  getBuildUploadUrl: editors,
  createBuild: editors,
  listBuilds: everyone,
  getBuild: everyone,
  cancelBuild: editors,
  getBuildLogs: everyone,
  listSecrets: everyone,
  getSecretSet: everyone,
  putSecrets: editors,
  deleteSecret: editors,
  deleteSecretSet: editors,
  getSecretHistory: everyone,
  rollBackSecrets: editors,
  verifyImagePullSecret: editors,
  listAuditEntries: editors,
  verifyAudit: editors,
  getVault: operator,
  rotateVault: operator,
  verifyVault: operator,
  createOperatorKey: operator,
  createOperatorInvitation: operator,
  createPasswordReset: operator,
  getSignInMethods: anyone,
  signIn: anyone,
  describeLink: anyone,
  signUp: anyone,
  resetPassword: anyone,
  startOpenIdSignIn: anyone,
  finishOpenIdSignIn: anyone,
  startDeviceLogin: anyone,
  pollDeviceLogin: anyone,
  exchangeAuthorizationCode: anyone,
  getUser: people,
  updateUser: people,
  changeEmail: ['session'],
  changePassword: ['session'],
  signOut: people,
  signOutEverywhere: ['session'],
  listPersonalTokens: people,
  createPersonalToken: ['session'],
  revokePersonalToken: people,
  getDeviceLogin: ['session'],
  decideDeviceLogin: ['session'],
  decideAuthorization: ['session'],
  acceptInvitation: ['session'],
  createOrganization: people,
  updateOrganization: owners,
  deleteOrganization: owners,
  transferOrganization: owners,
  leaveOrganization: members,
  listMembers: members,
  updateMember: owners,
  removeMember: owners,
  listInvitations: owners,
  createInvitation: owners,
  revokeInvitation: owners,
  identifyCaller: [...people, 'private-key'],
  listApiKeys: administrators,
  createApiKey: administrators,
  revokeApiKey: administrators,
  listAgentProfiles: everyone,
  listRegistryKeys: everyone,
  listServices: everyone,
  getService: everyone,
  createService: editors,
  updateService: editors,
  deleteService: editors,
  getServiceLogs: everyone,
  listServiceDeployments: everyone,
  getServiceSessions: everyone,
  getServiceSession: everyone,
  stopServiceSession: editors,
  getDailyKey: everyone,
  createAgentProfile: editors,
  updateAgentProfile: editors,
  createRegistryKey: editors,
  revokeRegistryKey: editors,
  getSpendLimit: everyone,
  updateSpendLimit: editors,
  registerRegion: editors,
  getRegion: everyone,
  deleteRegion: editors,
  createEnrollmentToken: editors,
  referenceSecretSet: editors,
  getGitHubInstallUrl: everyone,
  getGitHubLinkUrl: everyone,
  getGitHubInstallation: everyone,
  deleteGitHubInstallation: editors,
  listGitHubRepositories: everyone,
  listGitHubBranches: everyone,
  linkService: editors,
  unlinkService: editors,
  deployServiceFromGit: editors,
} as const satisfies Record<keyof AllOperations, readonly OperationGrantee[]>;

export function isAuthorizedForOperation(name: keyof AllOperations, grantee: OperationGrantee): boolean {
  const grantees: readonly OperationGrantee[] = granteesByOperation[name];
  return grantees.includes(grantee);
}
