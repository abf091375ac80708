import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { apiErrorDefinitions } from './errors.ts';
import { openApiDocument } from './openapi.ts';
import type { Operation } from './operation.ts';
import { allOperations } from './operations/all.ts';
import { uploadUrlPathTemplate } from './operations/builds.ts';
import { proxyHttpMethods } from './operations/start.ts';
import { listOperationPaths } from './paths.ts';

type Json = { readonly [key: string]: unknown };
type Entry = {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Json;
};

const document = openApiDocument('http://127.0.0.1:7420') as {
  paths: Record<string, Record<string, Entry>>;
  components: { schemas: Json };
};
const all = Object.entries(allOperations) as [string, Operation][];

/** Collects the strings in a document that are values of the property `key`. */
function valuesOf(key: string, node: unknown): readonly string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) =>
    name === key && typeof value === 'string' ? [value] : valuesOf(key, value),
  );
}

function resolves(reference: string): boolean {
  let node: unknown = document;
  for (const part of reference.replace(/^#\//, '').split('/')) {
    node = (node as Json | undefined)?.[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return reference.startsWith('#/') && typeof node === 'object';
}

describe('the OpenAPI document', () => {
  it('is a valid OpenAPI 3.1 document', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document) as Record<string, unknown>);
    expect(errors ?? []).toEqual([]);
    expect(valid).toBe(true);
    expect(validator.version).toBe('3.1');
  });

  it('contains no reference to a component that does not exist', () => {
    const references = valuesOf('$ref', document);
    expect(references).not.toEqual([]);
    expect(references.filter((reference) => !resolves(reference))).toEqual([]);
  });

  it('has unique operation ids', () => {
    const ids = valuesOf('operationId', document);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('defines shared types as named components', () => {
    const names = ['SessionResponse', 'SessionSummary', 'ResourceMetrics', 'AgentDetails', 'ErrorResponse'];
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(names));
  });

  it('does not change when it is converted to JSON and parsed', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });

  it('contains all methods of the upload URL', () => {
    expect(Object.keys(document.paths[uploadUrlPathTemplate] ?? {})).toEqual(['parameters', 'head', 'patch', 'post']);
  });

  it('contains all methods of the session proxy', () => {
    const path = '/v1/public/{agentName}/sessions/{sessionId}/{path}';
    expect(Object.keys(document.paths[path] ?? {})).toEqual(
      expect.arrayContaining(proxyHttpMethods.map((method) => method.toLowerCase())),
    );
  });
});

describe.each(all)('the operation %s', (_, operation) => {
  const places = listOperationPaths(operation);

  it.each(places)('is documented at path %s with a parameter for each placeholder', (path) => {
    const entry = document.paths[path]?.[operation.method.toLowerCase()];
    const inPath = entry?.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name) ?? [];
    const inQuery = entry?.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name) ?? [];
    expect(inPath.sort()).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort());
    expect(inQuery).toEqual(Object.keys(operation.query.shape));
  });

  it.each(places)('is documented at path %s with its success and error statuses', (path) => {
    const entry = document.paths[path]?.[operation.method.toLowerCase()];
    const expected = [
      operation.status,
      401,
      500,
      ...operation.errors.map((reason) => apiErrorDefinitions[reason].status),
    ];
    expect(Object.keys(entry?.responses ?? {})).toEqual(expect.arrayContaining(expected.map(String)));
  });
});
