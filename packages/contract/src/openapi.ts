import { z } from 'zod';
import { backupConversationsParameter, backupUrlPath } from './backup.ts';
import { recordingContinuationParameter, recordingMediaType, recordingOperation } from './conversation/recording.ts';
import { apiErrorDefinitions, type ErrorReason, ErrorResponse } from './errors.ts';
import { openApiTags } from './openapi-tags.ts';
import { type Operation, operationMethods } from './operation.ts';
import { allOperations } from './operations/all.ts';
import { ArchiveUploadResponse, uploadUrlPathTemplate } from './operations/builds.ts';
import { proxyHttpMethods, sessionProxyPath } from './operations/start.ts';
import { listOperationPaths, publicApiBasePath, sessionCookieName } from './paths.ts';

type Json = { [key: string]: unknown };

/** Every operation can fail with these reasons. */
const commonFailures: readonly ErrorReason[] = ['key-missing', 'key-invalid', 'internal', 'database-unavailable'];
/** Reasons for which any request to the service can fail, whatever its path. */
const protocolFailures: readonly ErrorReason[] = [
  'not-http',
  'request-too-slow',
  'body-too-large',
  'expectation-unsupported',
  'headers-too-large',
  'method-not-implemented',
];

/** Creates the OpenAPI 3.1 document of all operations. `serverUrl` is the origin that clients use. */
export function openApiDocument(serverUrl: string): Json {
  const schemas: Json = {};
  const paths: Json = {};
  const all: readonly Operation[] = Object.values(allOperations);
  for (const operation of all.toSorted(compareByPath)) {
    for (const path of listOperationPaths(operation)) {
      const entry = {
        ...(paths[path] as Json),
        [operation.method.toLowerCase()]: describe(operation, path, schemas),
      };
      paths[path] = entry;
    }
  }
  paths[publicApiBasePath + sessionProxyPath] = proxyEntry(schemas);
  paths[uploadUrlPathTemplate] = uploadEntry(schemas);
  paths[backupUrlPath] = backupEntry(schemas);
  for (const path of recordingOperation.paths) paths[path] = recordingEntry(path, schemas);
  return {
    openapi: '3.1.0',
    info: {
      title: 'bothost API',
      version: '1.0.0',
      description: `Send a key as \`Authorization: Bearer KEY\`. Private keys (\`sk_\`) can do everything in their organization; public
keys (\`pk_\`) can only start sessions and reach their bots. Each path of a private operation also exists below
\`/v1/organizations/{organization}\`, where people use it with a personal access token (\`pcc_pat_\`).

A request that is not valid HTTP, or too large or too slow, is refused with
${protocolFailures.map((reason) => apiErrorDefinitions[reason].status).join(', ')}.`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: serverUrl }],
    tags: Object.entries(openApiTags).map(([name, [title, description]]) => ({
      name,
      'x-displayName': title,
      description,
    })),
    paths,
    components: {
      schemas,
      securitySchemes: {
        privateKey: { type: 'http', scheme: 'bearer', description: 'A private key (sk_)' },
        publicKey: { type: 'http', scheme: 'bearer', description: 'A public key (pk_)' },
        personalToken: { type: 'http', scheme: 'bearer', description: 'A personal access token (pcc_pat_)' },
        session: { type: 'apiKey', in: 'cookie', name: sessionCookieName, description: 'The session of a browser' },
        operatorToken: { type: 'http', scheme: 'bearer', description: "The token of the service's operator" },
      },
    },
  };
}

function compareByPath(a: Operation, b: Operation): number {
  return a.path.localeCompare(b.path) || operationMethods.indexOf(a.method) - operationMethods.indexOf(b.method);
}

function describe(operation: Operation, path: string, schemas: Json): Json {
  const isInOrganization = path.includes('{organization}');
  const organization = isInOrganization
    ? [{ name: 'organization', in: 'path', required: true, schema: { type: 'string' } }]
    : [];
  return {
    operationId: isInOrganization && operation.key === 'private' ? `${operation.name}InOrganization` : operation.name,
    summary: operation.summary,
    tags: [operation.tag],
    security: schemesOf(operation.key, isInOrganization).map((scheme) => ({ [scheme]: [] })),
    parameters: [
      ...organization,
      ...parameters('path', operation.params, schemas).filter(({ name }) => path.includes(`{${name}}`)),
      ...parameters('query', operation.query, schemas),
    ],
    ...(operation.bodyBytes === 0
      ? {}
      : { requestBody: { content: { 'application/json': { schema: schemaOf(operation.body, 'input', schemas) } } } }),
    responses: {
      ...successResponses(operation, schemas),
      ...failureResponses(failuresOf(operation, path), schemas),
    },
  };
}

/**
 * Lists the reasons for which an operation can fail: the reasons that the operation names, the reasons that follow from its path
 * and method, and the reasons common to all operations.
 */
function failuresOf(operation: Operation, path: string): readonly ErrorReason[] {
  return [
    ...operation.errors,
    ...(path.includes('{organization}') ? (['organization-not-found'] as const) : []),
    ...(['public', 'operator', 'none'].includes(operation.key)
      ? []
      : (['session-expired', 'organization-missing', 'forbidden'] as const)),
    ...(operation.bodyBytes > 0 ? (['invalid-json'] as const) : []),
    // The service reads the body of every request except GET, even if it ignores the content.
    ...(operation.method === 'GET' ? [] : (['body-too-large', 'request-too-slow'] as const)),
    ...commonFailures,
  ];
}

function schemesOf(key: Operation['key'], isInOrganization: boolean): readonly string[] {
  const person = ['personalToken', 'session'];
  switch (key) {
    case 'public':
      return ['publicKey'];
    case 'operator':
      return ['operatorToken'];
    case 'none':
      return [];
    case 'member':
    case 'person':
      return person;
    case 'account':
    case 'organization':
      return ['privateKey', ...person];
    case 'private':
      return isInOrganization ? ['privateKey', ...person] : ['privateKey'];
  }
}

function successResponses(operation: Operation, schemas: Json): Json {
  const response = {
    description: 'Done',
    content: { 'application/json': { schema: schemaOf(operation.response, 'output', schemas) } },
  };
  const { status, other } = operation;
  return { [status]: response, ...(other === undefined ? {} : { [other.status]: response }) };
}

function parameters(location: 'path' | 'query', fields: Operation['params'], schemas: Json) {
  const schema = schemaOf(fields, 'input', schemas) as { properties?: Record<string, Json>; required?: string[] };
  return Object.entries(schema.properties ?? {}).map(([name, { description, ...rest }]) => ({
    name,
    in: location,
    required: location === 'path' || (schema.required ?? []).includes(name),
    ...(description === undefined ? {} : { description }),
    schema: rest,
  }));
}

function failureResponses(reasons: readonly ErrorReason[], schemas: Json): Json {
  const byStatus = new Map<number, string[]>();
  for (const reason of new Set(reasons)) {
    const { status, message } = apiErrorDefinitions[reason];
    byStatus.set(status, [...(byStatus.get(status) ?? []), `${reason}: ${message}`]);
  }
  const schema = schemaOf(ErrorResponse, 'output', schemas);
  return Object.fromEntries(
    [...byStatus].map(([status, texts]) => [
      status,
      { description: texts.join(' '), content: { 'application/json': { schema } } },
    ]),
  );
}

function proxyEntry(schemas: Json): Json {
  const names = ['agentName', 'sessionId', 'path'];
  const entry: Json = {
    description: 'Any request or WebSocket to the bot of a session. Waits until the instance is ready.',
    parameters: names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
  };
  for (const method of proxyHttpMethods) {
    entry[method.toLowerCase()] = {
      operationId: `proxySession${method.charAt(0)}${method.slice(1).toLowerCase()}`,
      summary: `Reach the bot of a session (${method})`,
      tags: ['public'],
      security: [{ publicKey: [] }],
      responses: {
        default: { description: 'The response of the bot' },
        ...failureResponses(
          ['not-found', 'session-elsewhere', 'bot-unreachable', 'bot-not-ready', ...commonFailures],
          schemas,
        ),
      },
    };
  }
  return entry;
}

/** Describes the path that returns a backup. It is not an operation, because its response is a stream of files. */
function backupEntry(schemas: Json): Json {
  const get = {
    operationId: 'createBackup',
    summary: 'Back up database, key files and archives of builds',
    tags: ['operator'],
    parameters: [
      {
        name: backupConversationsParameter,
        in: 'query',
        description: 'Whether to include conversations and the logs of bots',
        schema: { type: 'boolean', default: false },
      },
    ],
    security: [{ operatorToken: [] }],
    responses: {
      200: { description: 'A tar archive, complete if it ends with end.json', content: { 'application/x-tar': {} } },
      ...failureResponses(commonFailures, schemas),
    },
  };
  return { get };
}

/** Describes a path that returns the recording of a session. It is not an operation, because its response is audio. */
function recordingEntry(path: string, schemas: Json): Json {
  const isInOrganization = path.includes('{organization}');
  const names = [...(isInOrganization ? ['organization'] : []), 'agentName', 'sessionId'];
  const content = { [recordingMediaType]: {} };
  const description =
    'Ogg Opus with two channels: the user is left, the bot right. While the session runs, what there is so far';
  const get = {
    operationId: isInOrganization ? `${recordingOperation.name}InOrganization` : recordingOperation.name,
    summary: 'Play or download the recording of a session',
    tags: ['sessions'],
    security: schemesOf(recordingOperation.key, isInOrganization).map((scheme) => ({ [scheme]: [] })),
    parameters: [
      ...names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
      {
        name: recordingContinuationParameter,
        in: 'query',
        required: false,
        description: 'Any value: the request continues a playback that the audit log has already',
        schema: { type: 'string' },
      },
      {
        name: 'Range',
        in: 'header',
        required: false,
        description: 'Such as bytes=0-65535',
        schema: { type: 'string' },
      },
    ],
    responses: {
      200: { description, content },
      206: { description: 'The requested range', content },
      ...failureResponses(
        [
          'not-found',
          'recording-not-found',
          'range-not-satisfiable',
          'session-expired',
          'organization-missing',
          'forbidden',
          ...(isInOrganization ? (['organization-not-found'] as const) : []),
          ...commonFailures,
        ],
        schemas,
      ),
    },
  };
  return { get };
}

/** Describes the upload URL that `getBuildUploadUrl` returns. */
function uploadEntry(schemas: Json): Json {
  const header = (name: string, type: string, description: string) => {
    return { name, in: 'header', required: true, description, schema: { type } };
  };
  const token = header('Upload-Token', 'string', 'uploadFields.token');
  const offset = header('Upload-Offset', 'integer', 'The bytes that have been received');
  const form = {
    type: 'object',
    required: ['token', 'file'],
    properties: { token: { type: 'string' }, file: { type: 'string', contentMediaType: 'application/gzip' } },
  };
  const content = { 'application/json': { schema: schemaOf(ArchiveUploadResponse, 'output', schemas) } };
  const entry = (name: string, summary: string, reasons: readonly ErrorReason[], more: Json) => ({
    operationId: name,
    summary,
    tags: ['builds'],
    security: [],
    ...more,
    responses: {
      200: { description: 'Done', ...(name === 'getUploadOffset' ? {} : { content }) },
      ...failureResponses([...reasons, 'upload-token-invalid', 'upload-not-found', 'internal'], schemas),
    },
  });
  const received: readonly ErrorReason[] = ['upload-content-wrong', 'archive-too-large', 'storage-full'];
  return {
    parameters: [{ name: 'uploadId', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }],
    head: entry('getUploadOffset', 'Get the number of received bytes in the header Upload-Offset', [], {
      parameters: [token],
    }),
    patch: entry(
      'appendToUpload',
      'Append to an archive',
      [...received, 'upload-offset-wrong', 'upload-not-resumable'],
      {
        parameters: [token, offset],
        requestBody: { content: { 'application/octet-stream': { schema: {} } } },
      },
    ),
    post: entry('sendUpload', 'Send an archive', [...received, 'upload-form-invalid'], {
      requestBody: { content: { 'multipart/form-data': { schema: form } } },
    }),
  };
}

/** Converts a zod type to a JSON Schema. Types with an id become shared components. */
function schemaOf(type: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  const {
    $schema: _,
    $defs,
    ...schema
  } = z.toJSONSchema(type, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
  }) as Json;
  Object.assign(schemas, rewriteRefs(($defs as Json | undefined) ?? {}));
  return rewriteRefs(schema) as Json;
}

function rewriteRefs(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(rewriteRefs);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => [
      name,
      name === '$ref' && typeof value === 'string'
        ? value.replace('#/$defs/', '#/components/schemas/')
        : rewriteRefs(value),
    ]),
  );
}
