import { createApiError, type Operation, type Operations, type RequestOf, type ResponseOf } from '@bothost/contract';
import { createKeyedQueue } from '@bothost/runtime/keyed-queue';
import { type AccountRequest, type PersonPrincipal, toAuditActor } from './accounts/account-request.ts';
import { decideAuthorization, exchangeAuthorizationCode } from './accounts/authorization-codes.ts';
import { decideDeviceLogin, getDeviceLogin, pollDeviceLogin, startDeviceLogin } from './accounts/device-login.ts';
import {
  createInvitation,
  createOperatorInvitation,
  createPasswordReset,
  describeLink,
  listInvitations,
  revokeInvitation,
} from './accounts/links.ts';
import { finishOpenIdSignIn, startOpenIdSignIn } from './accounts/openid.ts';
import { signIn, signOut, signOutEverywhere } from './accounts/sessions.ts';
import { acceptInvitation, resetPassword, signUp } from './accounts/sign-up.ts';
import { createPersonalToken, listPersonalTokens, revokePersonalToken } from './accounts/tokens.ts';
import { changeEmail, changePassword, getUser, renameUser } from './accounts/user.ts';
import { deleteAgent } from './agents/delete.ts';
import { createAgent, type DeploymentChange, updateAgent } from './agents/deploy.ts';
import { readDeploymentSecrets } from './agents/deployment-secrets.ts';
import { getDeployment, listDeployments } from './agents/deployments.ts';
import { requireAgentId } from './agents/find.ts';
import { rollBack } from './agents/rollback.ts';
import { findAgentsUsingSecretSet } from './agents/secret-users.ts';
import { createAgentNameWarning } from './agents/settings.ts';
import { checkAgent, getAgent, listAgents } from './agents/show.ts';
import { addStartMethodToAgent } from './agents/start-method.ts';
import type { Actor } from './audit/chain.ts';
import { listAuditEntries } from './audit/list.ts';
import { verifyAudit } from './audit/verify.ts';
import { beginUpload } from './builds/begin-upload.ts';
import { cancelBuild } from './builds/cancel.ts';
import { createBuild } from './builds/create.ts';
import { getBuild } from './builds/get.ts';
import { listBuilds } from './builds/list.ts';
import { readBuildLog } from './builds/read-log.ts';
import { withAnySignal } from './concurrency/any-signal.ts';
import type { ServiceContext } from './context.ts';
import { countInstances } from './instances/claim.ts';
import { listOtherLiveRegions } from './instances/host.ts';
import { getLogs } from './logs/get.ts';
import type { Principal } from './organizations/authenticate.ts';
import { createApiKey, listApiKeys, revokeApiKey } from './organizations/keys.ts';
import { createOrganization, deleteOrganization, updateOrganization } from './organizations/lifecycle.ts';
import {
  listMembers,
  listMemberships,
  removeMember,
  transferOrganization,
  updateMember,
} from './organizations/members.ts';
import { createOperatorKey } from './organizations/operator-key.ts';
import {
  describeOrganizationProperties,
  getOrganizationProperties,
  listOrganizations,
  listRegions,
  updateOrganizationProperties,
} from './organizations/properties.ts';
import { deleteSecretSet } from './secrets/delete.ts';
import { listSecrets } from './secrets/list.ts';
import { createVaultOperations } from './secrets/maintenance/operations.ts';
import { rollBackSecrets } from './secrets/rollback.ts';
import { getSecretHistory, getSecretSet } from './secrets/show.ts';
import { verifyImagePullSecret } from './secrets/verify.ts';
import { writeSecrets } from './secrets/write.ts';
import { estimateRequestBytes, parseWriteRequest, type WriteRequest } from './secrets/write-request.ts';
import { startMemberSession, startSession } from './session-starts/start-session.ts';
import { getSession } from './sessions/get.ts';
import { listOrganizationSessions, listSessions } from './sessions/list.ts';
import { getOverview } from './sessions/overview.ts';
import { stopSession } from './sessions/stop.ts';

/** Maps the kind of credential that an operation requires to the type of the caller that its handler receives. */
export type CallerTypeByCredential = {
  readonly private: Principal;
  readonly organization: Principal;
  readonly member: Principal;
  readonly public: Principal;
  readonly account: Principal | PersonPrincipal;
  readonly person: PersonPrincipal;
  readonly none: AccountRequest;
  readonly operator: Actor & { readonly serviceUrl: string };
};

/** Handles requests of one operation. `disconnected` returns a signal that aborts when the client disconnects. */
export type OperationHandler<Request, Caller, Result> = (
  request: Request,
  caller: Caller,
  requestedAt: Date,
  disconnected: () => AbortSignal,
) => Promise<Result>;

/** Maps each operation in `All` to its handler. A missing handler is a type error. */
export type OperationHandlers<All extends Readonly<Record<string, Operation>>> = {
  readonly [Name in keyof All]: OperationHandler<
    // Do not simplify to `RequestOf<All[Name]>`: TypeScript treats `RequestOf<A>` and `RequestOf<B>` of two operations A and B
    // as incompatible, even if their requests have the same fields.
    {
      readonly params: RequestOf<All[Name]>['params'];
      readonly query: RequestOf<All[Name]>['query'];
      readonly body: RequestOf<All[Name]>['body'];
    },
    CallerTypeByCredential[All[Name]['key']],
    ResponseOf<All[Name]>
  >;
};
export type ApiOperationHandlers = OperationHandlers<Operations>;

/** Creates the handlers of all operations in the API contract. */
export function createApiOperationHandlers(context: ServiceContext): ApiOperationHandlers {
  return {
    ...createOrganizationHandlers(context),
    ...createAgentHandlers(context),
    ...createSessionHandlers(context),
    ...createBuildHandlers(context),
    ...createSecretHandlers(context),
    ...createOperatorHandlers(context),
    ...createAccountHandlers(context),
    ...createMemberHandlers(context),
  };
}

function createOrganizationHandlers(context: ServiceContext) {
  return {
    listOrganizations: async (_, caller) => ({
      organizations:
        'organizationId' in caller
          ? await listOrganizations(context, caller)
          : await listMemberships(context, caller.person.id),
    }),
    listRegions: async () => ({ regions: await listRegions(context) }),
    getProperties: async (_, caller) => ({ properties: await getOrganizationProperties(context, caller) }),
    getPropertiesSchema: async (_, caller) => ({ properties: await describeOrganizationProperties(context, caller) }),
    updateProperties: async ({ body }, caller) => ({
      properties: await updateOrganizationProperties(context, caller, body),
    }),
    listKeys: async (_, caller) => ({ keys: await listApiKeys(context, caller) }),
    createKey: ({ body }, caller) => createApiKey(context, caller, body),
    revokeKey: async ({ params }, caller) => {
      const key = await revokeApiKey(context, caller, params.keyId);
      await context.announceRevocation(key.id);
      return key;
    },
    getOverview: (_, caller) => getOverview(context, caller),
    listAuditEntries: ({ query }, caller) => listAuditEntries(context, caller, query),
    verifyAudit: (_, caller) => verifyAudit(context, caller),
  } satisfies Partial<ApiOperationHandlers>;
}

function createAgentHandlers(context: ServiceContext) {
  const usageOf = (agentId: string) => countInstances(context, agentId);
  const readLogsInTurn = createKeyedQueue();

  /** Wakes the reconciler after a deployment and returns the updated agent. */
  async function applyDeployment(agentName: string, caller: Principal, change: DeploymentChange) {
    context.reconciler.requestReconcile();
    const warning = createAgentNameWarning(agentName);
    const agent = await getAgent(context, caller, agentName, usageOf);
    return { ...agent, change, ...(warning === null ? {} : { warning }) };
  }

  return {
    listAgents: async ({ query }, caller) => {
      const wanted = { includeActiveDeployment: query.includeActiveDeployment === 'true', region: query.region };
      const agents = await listAgents(context, caller, wanted);
      return { services: agents, agents };
    },
    getAgent: async ({ params }, caller) => {
      const agent = await getAgent(context, caller, params.agentName, usageOf);
      return addStartMethodToAgent(context, agent);
    },
    createAgent: async ({ body }, caller) => {
      const change = await createAgent(context, caller, body);
      return applyDeployment(body.serviceName, caller, change);
    },
    updateAgent: async ({ params, body }, caller) => {
      const change = await updateAgent(context, caller, params.agentName, body);
      return applyDeployment(params.agentName, caller, change);
    },
    rollback: async ({ params, body }, caller) => {
      await rollBack(context, caller, params.agentName, body?.deploymentId ?? null);
      return applyDeployment(params.agentName, caller, 'deployment');
    },
    deleteAgent: async ({ params }, caller) => {
      const id = await deleteAgent(context, caller, params.agentName);
      context.reconciler.requestReconcile();
      const usage = await usageOf(id);
      return { status: 'OK', id, activeSessionCount: usage.reduce((sum, row) => sum + row.activeSessions, 0) };
    },
    listDeployments: ({ params, query }, caller) => listDeployments(context, caller, params.agentName, query, usageOf),
    getDeployment: ({ params }, caller) =>
      getDeployment(context, caller, params.agentName, params.deploymentId, usageOf),
    checkAgent: ({ params }, caller) => checkAgent(context, caller, params.agentName),
    getLogs: async ({ params, query }, caller, _, disconnected) => {
      const agentId = await requireAgentId(context.db, caller.organizationId, params.agentName);
      const secretsOf = (id: string) => readDeploymentSecrets(context, id);
      const readInTurn = <T>(read: () => Promise<T>) => readLogsInTurn(caller.organizationId, read);
      return withAnySignal([context.closing, disconnected()], (closing) =>
        getLogs({ ...context, secretsOf, readInTurn, closing }, agentId, query),
      );
    },
  } satisfies Partial<ApiOperationHandlers>;
}

function createSessionHandlers(context: ServiceContext) {
  return {
    startSession: async ({ params, query, body }, caller, requestedAt) => {
      if (context.isDraining()) throw createApiError('shutting-down');
      return startSession(context, caller, params.agentName, {
        request: body ?? {},
        fields: query.fields,
        requestedAt,
      });
    },
    startMemberSession: async ({ params, body }, caller, requestedAt) => {
      if (context.isDraining()) throw createApiError('shutting-down');
      return startMemberSession(context, caller, params.agentName, { request: body ?? {}, requestedAt });
    },
    listOrganizationSessions: ({ query }, caller) => listOrganizationSessions(context, caller, query),
    getSessions: ({ params, query }, caller) => listSessions(context, caller, params.agentName, query),
    getSession: ({ params }, caller) => getSession(context, caller, params.agentName, params.sessionId),
    stopSession: async ({ params }, caller) => {
      const { ended } = await stopSession(context, caller, params.agentName, params.sessionId);
      if (ended) context.telemetry.sessionEnded('SESSION_STOPPED');
      context.reconciler.requestReconcile();
      return { status: 'terminated', session_id: params.sessionId };
    },
  } satisfies Partial<ApiOperationHandlers>;
}

function createBuildHandlers(context: ServiceContext) {
  return {
    getBuildUploadUrl: ({ body }, caller) => beginUpload({ ...context, ...context.builds }, caller, body),
    createBuild: async ({ body }, caller) => {
      const created = await createBuild({ ...context, ...context.builds }, caller, body);
      context.builds.worker.wake();
      return created;
    },
    listBuilds: ({ query }, caller) => listBuilds(context, caller, query),
    getBuild: ({ params }, caller) => getBuild(context, caller, params.buildId),
    cancelBuild: async ({ params }, caller) => {
      const canceled = await cancelBuild({ ...context, ...context.builds }, caller, params.buildId);
      context.builds.worker.wake();
      return canceled;
    },
    getBuildLogs: ({ params, query }, caller, _, disconnected) =>
      withAnySignal([context.closing, disconnected()], (closing) =>
        readBuildLog({ ...context, ...context.builds, closing }, caller, params.buildId, query),
      ),
  } satisfies Partial<ApiOperationHandlers>;
}

function createSecretHandlers(context: ServiceContext) {
  /** Writes a secret set, starts its delivery to the region, and then overwrites the values in memory with zeros. */
  async function writeSet(caller: Principal, setName: string, request: WriteRequest) {
    try {
      const { organizationId } = caller;
      const write = { organizationId, dryRun: request.dryRun, bytes: estimateRequestBytes(request) };
      const result = await context.queueSecretWrite(write, async () => {
        const known = (await listRegions(context)).map(({ code }) => code);
        const { defaultRegion: standard } = await getOrganizationProperties(context, caller);
        return writeSecrets(context, caller, setName, request, { known, standard });
      });
      context.deliverSecrets();
      return result;
    } finally {
      for (const value of request.values.values()) value.fill(0);
    }
  }

  return {
    listSecrets: async ({ query }, caller) => ({ sets: await listSecrets(context, caller, query) }),
    getSecretSet: ({ params }, caller) =>
      getSecretSet(context, caller, params.setName, (setId) => findAgentsUsingSecretSet(context.db, setId)),
    putSecrets: ({ params, body }, caller) =>
      writeSet(caller, params.setName, parseWriteRequest(body, context.registries.policy)),
    deleteSecret: ({ params }, caller) =>
      writeSet(caller, params.setName, {
        ...parseWriteRequest({}, context.registries.policy),
        remove: [params.secretKey],
      }),
    deleteSecretSet: ({ params, query }, caller) => {
      const when = { force: query.force === 'true', expectedRevision: query.expectedRevision };
      const { organizationId } = caller;
      return context.queueSecretWrite({ organizationId, dryRun: false, bytes: 0 }, () =>
        deleteSecretSet(context, caller, params.setName, when, async (db, setId) =>
          (await findAgentsUsingSecretSet(db, setId)).map(({ name }) => name),
        ),
      );
    },
    getSecretHistory: ({ params, query }, caller) => getSecretHistory(context, caller, params.setName, query),
    rollBackSecrets: async ({ params, body }, caller) => {
      const write = { organizationId: caller.organizationId, dryRun: body.dryRun === true, bytes: 0 };
      const result = await context.queueSecretWrite(write, () =>
        rollBackSecrets(context, caller, params.setName, body),
      );
      context.deliverSecrets();
      return result;
    },
    verifyImagePullSecret: async ({ params, body }, caller) => {
      if (!context.registryCheckRate.take(caller.organizationId)) throw createApiError('too-many-checks');
      return verifyImagePullSecret(context, caller, params.setName, body?.image ?? null);
    },
  } satisfies Partial<ApiOperationHandlers>;
}

function createOperatorHandlers(context: ServiceContext) {
  const vault = createVaultOperations({
    ...context,
    otherRegions: (db) => listOtherLiveRegions({ ...context, db }, context.host.region),
  });

  return {
    getVault: vault.status,
    rotateVault: ({ body }, operator) =>
      body.layer === 'root'
        ? vault.rotateRootKey(operator)
        : vault.rotateOrganizationKeys(operator, body.organization ?? null, { isDryRun: false }),
    verifyVault: ({ body }, operator) =>
      vault.rotateOrganizationKeys(operator, body?.organization ?? null, { isDryRun: true }),
    createOperatorKey: ({ body }, operator) =>
      createOperatorKey(context, operator, { ...body, organization: body.organization ?? null }),
    createOperatorInvitation: ({ body }, operator) =>
      createOperatorInvitation(context, operator, { ...body, organization: body.organization ?? null }),
    createPasswordReset: ({ body }, operator) => createPasswordReset(context, operator, body.email),
  } satisfies Partial<ApiOperationHandlers>;
}

function createAccountHandlers(context: ServiceContext) {
  return {
    getSignInMethods: async () => ({ password: true, openId: context.openId && { name: context.openId.name } }),
    signIn: async ({ body }, accountRequest) => getUser(context, await signIn(context, accountRequest, body)),
    describeLink: ({ body }, accountRequest) => describeLink(context, accountRequest, body.token),
    signUp: ({ body }, accountRequest) => signUp(context, accountRequest, body),
    resetPassword: ({ body }, accountRequest) => resetPassword(context, accountRequest, body),
    startOpenIdSignIn: (_, accountRequest) => startOpenIdSignIn(context, accountRequest),
    finishOpenIdSignIn: ({ body }, accountRequest) => finishOpenIdSignIn(context, accountRequest, body),
    startDeviceLogin: ({ body }, accountRequest) => startDeviceLogin(context, accountRequest, body),
    pollDeviceLogin: ({ body }, accountRequest) => pollDeviceLogin(context, accountRequest, body),
    exchangeAuthorizationCode: ({ body }, accountRequest) => exchangeAuthorizationCode(context, accountRequest, body),
    getUser: (_, { person }) => getUser(context, person.id),
    updateUser: ({ body }, caller) => renameUser(context, caller, body.name),
    changeEmail: ({ body }, caller) => changeEmail(context, caller, body),
    changePassword: ({ body }, caller) => changePassword(context, caller, body),
    signOut: async (_, caller) => {
      await signOut(context, caller);
      return { status: 'OK' };
    },
    signOutEverywhere: async (_, caller) => {
      await signOutEverywhere(context, caller);
      return { status: 'OK' };
    },
    listPersonalTokens: async (_, { person }) => ({ tokens: await listPersonalTokens(context, person.id) }),
    createPersonalToken: ({ body }, caller) =>
      createPersonalToken(context, caller.person.id, toAuditActor(caller), { ...body, createdBy: 'person' }),
    revokePersonalToken: ({ params }, caller) => revokePersonalToken(context, caller, params.tokenId),
    getDeviceLogin: ({ params }, caller) => getDeviceLogin(context, caller, params.userCode),
    decideDeviceLogin: ({ params, body }, caller) => decideDeviceLogin(context, caller, params.userCode, body.approve),
    decideAuthorization: ({ body }, caller) => decideAuthorization(context, caller, body),
    acceptInvitation: ({ body }, caller) => acceptInvitation(context, caller, body.token),
    createOrganization: ({ body }, caller) => createOrganization(context, toAuditActor(caller), body),
  } satisfies Partial<ApiOperationHandlers>;
}

function createMemberHandlers(context: ServiceContext) {
  return {
    updateOrganization: async ({ body }, caller) => {
      const organization = await updateOrganization(context, caller, body);
      await context.announceRevocation(null);
      return organization;
    },
    deleteOrganization: async (_, caller) => {
      const organization = await deleteOrganization(context, caller);
      await context.announceRevocation(null);
      return organization;
    },
    transferOrganization: async ({ body }, caller) => ({
      members: await transferOrganization(context, caller, body.userId),
    }),
    leaveOrganization: (_, caller) => removeMember(context, caller, caller.person?.id ?? ''),
    listMembers: async (_, caller) => ({ members: await listMembers(context, caller) }),
    updateMember: ({ params, body }, caller) => updateMember(context, caller, params.userId, body.role),
    removeMember: ({ params }, caller) => removeMember(context, caller, params.userId),
    listInvitations: async (_, caller) => ({ invitations: await listInvitations(context, caller) }),
    createInvitation: ({ body }, caller) => createInvitation(context, caller, body),
    revokeInvitation: ({ params }, caller) => revokeInvitation(context, caller, params.invitationId),
  } satisfies Partial<ApiOperationHandlers>;
}
