import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { Duplex } from 'node:stream';
import {
  createApiError,
  createErrorBody,
  getWebSocketBasePath,
  type IceServer,
  iceServersPath,
  openApiDocument,
  openApiPath,
  serviceVersionHeader,
} from '@bothost/contract';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify';
import { z } from 'zod';
import type { RefusalLog } from '../audit/refusals.ts';
import type { ApiOperationHandlers } from '../operation-handlers.ts';
import { addAnswerDocumentRoutes, type CallAnswering, hideWebhookSecret } from './answer-documents.ts';
import { addAuthorizationServer } from './api/authorization-server.ts';
import { addBackupRoute, type BackupCreator } from './api/backup.ts';
import { requireCredential, requireOperator } from './api/caller.ts';
import {
  addOperationRoutes,
  findApiAccessLevelByPath,
  listAllowedMethods,
  type RoutesContext,
} from './api/operation-routes.ts';
import { pipecatCloudHandlers, replaceNotFoundStatus } from './api/pipecat-cloud.ts';
import { addRecordingRoutes, type RecordingPlayer } from './api/recording.ts';
import { createRefusalAuditEntries } from './api/refused-request.ts';
import { addDialinRoute, type DialinAnswerer } from './dialin.ts';
import { createNodeServer } from './node-server.ts';
import { addCommandLinePackage } from './pages/command-line-package.ts';
import { addDashboardRoutes, isPageRequest, sendDashboardPage } from './pages/dashboard.ts';
import { addProbeRoutes, type Probes } from './probes.ts';
import { addPublishedEventRoute, type PublishedEventReceiver } from './published-events.ts';
import { createCorsHeaders, isPublicPath } from './requests/cors.ts';
import {
  createBodyTooLargeError,
  createFailureHeaders,
  refuseUpgrade,
  requestIdHeader,
} from './requests/failure-response.ts';
import { ignoreUpgrade } from './requests/ignored-upgrade.ts';
import { parseJson, parseJsonWithUniqueKeys, parseJsonWithVerbatimField } from './requests/json-body.ts';
import type { RequestClient } from './requests/request-client.ts';
import { checkRequestHead } from './requests/request-head.ts';
import { parseSessionPath } from './session-proxy/session-path.ts';
import { createSessionProxy, type ProxyContext } from './session-proxy/session-proxy.ts';
import { proxyUpgrade } from './session-proxy/upgrade-proxy.ts';
import { type AgentSocketContext, createAgentWebSocketRelay } from './sockets/agent-socket.ts';
import { createProbeSocket } from './sockets/probe-socket.ts';
import { findHandshakeProblem, isWebSocketUpgrade } from './sockets/websocket-handshake.ts';
import { parseWebSocketPath } from './sockets/websocket-path.ts';
import { createUploadEndpoint, type UploadContext } from './upload.ts';

const version = z.object({ version: z.string() }).parse(createRequire(import.meta.url)('#package.json')).version;

export type AppContext = ProxyContext &
  AgentSocketContext &
  UploadContext &
  RoutesContext &
  BackupCreator &
  RecordingPlayer &
  PublishedEventReceiver &
  DialinAnswerer &
  CallAnswering & {
    readonly probes: Probes;
    /** Returns the ICE servers of an instance's session. Empty if the secret is wrong, or no session runs. */
    readonly findIceServersOfInstance: (instanceId: string, secret: string) => Promise<readonly IceServer[]>;
    readonly refusals: Pick<RefusalLog, 'record'>;
  };

declare module 'fastify' {
  interface FastifyRequest {
    readonly client: RequestClient;
  }
}

/** Creates the HTTP server. Requests for bots bypass the framework, which would buffer their bodies. */
export async function createApp(context: AppContext, handlers: ApiOperationHandlers): Promise<FastifyInstance> {
  const proxy = createSessionProxy(context);
  const sockets = createAgentWebSocketRelay(context);
  const uploads = createUploadEndpoint(context);
  const requestIds = new WeakMap<IncomingMessage, string>();
  const requestId = (incoming: IncomingMessage) => {
    // Use random UUIDs: each sortable UUID costs a system call, and sorting helps only in a database index, which contains no
    // request ids.
    const id = requestIds.get(incoming) ?? randomUUID();
    requestIds.set(incoming, id);
    return id;
  };

  const loggerInstance: FastifyBaseLogger = context.logger;
  const app = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestId,
    forceCloseConnections: true,
    serverFactory: (handler) => createNodeServer(context.cors, { proxy: proxy.handle, uploads }, requestId, handler),
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 500 },
    clientErrorHandler: (error, socket) => {
      if (socket.writable) refuseUpgrade(socket, unreadable(error), randomUUID());
      else socket.destroy();
    },
    frameworkErrors: (error, request, reply) => {
      addOwnHeaders(context, request, reply);
      const answer = (known: unknown) => void answerFailure(context, known, request, reply);
      void refuseAddress(context, error, request, reply).catch(answer);
    },
  });

  addUpgrades(app, context, sockets, requestId);
  addHooks(app, context);
  addErrorHandlers(app, context, sockets);
  addDocuments(app, context);
  addAuthorizationServer(app);
  addProbeRoutes(app, context.probes);
  addPublishedEventRoute(app, context);
  addDialinRoute(app, context);
  addAnswerDocumentRoutes(app, context);
  addOperationRoutes(app, context, { ...handlers, ...pipecatCloudHandlers(handlers) });
  addRecordingRoutes(app, context);
  addBackupRoute(app, context, (request) => requireOperator(context, request));
  await addDashboardRoutes(app);
  addCommandLinePackage(app);
  app.addHook('preClose', async () => proxy.close());
  return app;
}

type AgentWebSocketRelay = ReturnType<typeof createAgentWebSocketRelay>;

function addUpgrades(
  app: FastifyInstance,
  context: AppContext,
  sockets: AgentWebSocketRelay,
  requestId: (incoming: IncomingMessage) => string,
): void {
  const upgraded = new Set<Duplex>();
  const acceptProbe = createProbeSocket();
  app.server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    upgraded.add(socket);
    socket.once('close', () => upgraded.delete(socket));
    // After an upgrade, Node removes its error listener from the socket. Without another listener, an error of the
    // socket would end the process.
    socket.on('error', () => socket.destroy());
    if (!isWebSocketUpgrade(incoming)) return ignoreUpgrade(app.server, incoming, socket, head);
    const id = requestId(incoming);
    const badHead = checkRequestHead(incoming);
    if (badHead !== null) return refuseUpgrade(socket, badHead, id);
    if (acceptProbe(incoming, socket, head)) return;
    const webSocketPath = parseWebSocketPath(incoming);
    if (webSocketPath !== null) {
      const problem = findHandshakeProblem(incoming);
      if (problem !== null) return refuseUpgrade(socket, problem, id);
      return void sockets.handle(incoming, socket, head, webSocketPath, id);
    }
    const path = parseSessionPath(incoming.url ?? '');
    if (path !== null) return void proxyUpgrade(context, incoming, socket, head, path, id);
    refuseUpgrade(socket, createApiError('endpoint-not-found'), id);
  });
  app.addHook('preClose', async () => {
    // Close upgraded sockets. Node's server does not close them, and open sockets would keep the process alive.
    for (const socket of upgraded) socket.destroy();
  });
}

function addHooks(app: FastifyInstance, context: AppContext): void {
  app.decorateRequest('client', {
    getter() {
      return context.resolveClient(this.raw);
    },
  });
  takeAnyJson(app);
  app.addHook('onRequest', (request, reply, done) => {
    addOwnHeaders(context, request, reply);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const fields = { method: request.method, path: loggedPath(request) };
    request.log.info({ ...fields, status: reply.statusCode, ms: Math.round(reply.elapsedTime) }, 'request');
    done();
  });
}

function addErrorHandlers(app: FastifyInstance, context: AppContext, sockets: AgentWebSocketRelay): void {
  app.setErrorHandler(async (error, request, reply) => {
    // The client has disconnected. Log this at the level `info`, because the service did not fail, and send no
    // response.
    if (request.raw.destroyed && !request.raw.complete) {
      const fields = { method: request.method, path: loggedPath(request) };
      request.log.info(fields, 'client disconnected before the end of its request');
      return reply.hijack();
    }
    // Fastify does not stop reading a chunked body that is too large.
    request.raw.pause();
    const { operation } = request.routeOptions.config;
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'FST_ERR_CTP_BODY_TOO_LARGE';
    const { bodyLimit = 0 } = request.routeOptions;
    const known = isTooLarge ? createBodyTooLargeError(bodyLimit) : context.toFailure(error);
    const { listOrganizationIds } = context.people;
    await context.refusals.record(() =>
      createRefusalAuditEntries(request, operation ?? {}, known, listOrganizationIds),
    );
    return answerFailure(context, replaceNotFoundStatus(known, request), request, reply);
  });
  app.setNotFoundHandler(async (request, reply) => {
    const level = findApiAccessLevelByPath(request.url);
    if (level !== null) await requireCredential(context, request, reply, level);
    const webSocketPath = parseWebSocketPath(request.raw);
    if (webSocketPath !== null) throw sockets.refusalOf(webSocketPath.token) ?? createApiError('upgrade-required');
    const known = wrongMethod(request, reply) ?? createApiError('endpoint-not-found');
    if (level === null && isPageRequest(request)) return sendDashboardPage(request, reply.code(known.status));
    throw known;
  });
}

const IceServersQuery = z.object({
  instance: z.string().optional().catch(''),
  secret: z.string().optional().catch(''),
});

function addDocuments(app: FastifyInstance, context: AppContext): void {
  // Bots request their ICE servers at this path for each WebRTC offer. Without a right secret the list is empty instead of an
  // error, because after an error Pipecat Cloud's base image uses a public server of a third party.
  app.get(iceServersPath, async (request) => {
    const { instance = '', secret = '' } = IceServersQuery.parse(request.query);
    return { iceConfig: { iceServers: await context.findIceServersOfInstance(instance, secret) } };
  });
  app.get(openApiPath, async (request) => openApiDocument(request.client.serviceUrl));
}

/**
 * Returns the path of a request for the log: without the query, and without the token or secret at the end.
 */
function loggedPath(request: FastifyRequest): string {
  const webSocketPath = parseWebSocketPath(request.raw);
  if (webSocketPath !== null) return `${getWebSocketBasePath(webSocketPath.carrier)}/...`;
  return hideWebhookSecret(request.url.split('?')[0] ?? '');
}

/** Adds the request id and the version of the service, and the CORS headers if the path belongs to the public API. */
function addOwnHeaders(context: AppContext, request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({ [requestIdHeader]: request.id, [serviceVersionHeader]: version });
  if (isPublicPath(request.url)) reply.headers(createCorsHeaders(context.cors, request.raw));
}

/**
 * Parses request bodies as JSON, whatever their content type, unless the route keeps their bytes. If the operation accepts a form,
 * parses a body that does not start with `{` as a form. An empty body counts as no body.
 */
function takeAnyJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addHook('onRequest', async (request) => {
    delete request.raw.headers['content-type'];
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    const { operation } = request.routeOptions.config;
    if (request.routeOptions.config.keepsBodyBytes === true) return done(null, body);
    if (body.length === 0 || operation?.bodyBytes === 0) return done(null, undefined);
    try {
      if (operation?.acceptsForm === true && body[0] !== openingBrace) return done(null, parseForm(body));
      if (operation?.exactBody === true) return done(null, parseJsonWithUniqueKeys(body));
      const { verbatimField } = operation ?? {};
      done(null, verbatimField === undefined ? parseJson(body) : parseJsonWithVerbatimField(body, verbatimField));
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

const openingBrace = 0x7b;

function parseForm(body: Buffer): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(body.toString()));
}

function answerFailure(context: AppContext, error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const known = context.toFailure(error);
  if (known.status >= 500) request.log.error({ requestId: request.id, err: known.cause ?? known }, known.message);
  // Keep the connection open. The framework would close it while the client is still sending, and the client could then not
  // read the response.
  if (!request.raw.complete && reply.hasHeader('connection')) reply.removeHeader('connection');
  return reply.code(known.status).headers(createFailureHeaders(known)).send(createErrorBody(known, request.id));
}

/**
 * Returns the failure for input that Node could not read as a complete HTTP request. `error.code` is Node's error code.
 */
function unreadable(error: Error & { code?: string }) {
  if (error.code === 'HPE_HEADER_OVERFLOW') return createApiError('headers-too-large');
  return createApiError(error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request-too-slow' : 'not-http');
}

/**
 * Treats a path that cannot be decoded like an unknown path: the response is 404 with a valid key and 401 without one.
 */
async function refuseAddress(
  context: AppContext,
  error: Error & { statusCode?: number | undefined },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<never> {
  const level = findApiAccessLevelByPath(request.url);
  if (level !== null) await requireCredential(context, request, reply, level);
  throw (error.statusCode ?? 500) < 500 ? createApiError('endpoint-not-found') : error;
}

/** Responds with 405 and the allowed methods (RFC 9110, section 15.5.6), because the path exists for other methods. */
function wrongMethod(request: FastifyRequest, reply: FastifyReply) {
  const allowed = listAllowedMethods(request.url.split('?')[0] ?? '');
  if (allowed.length === 0) return null;
  reply.header('allow', allowed.join(', '));
  return createApiError('method-not-allowed');
}
