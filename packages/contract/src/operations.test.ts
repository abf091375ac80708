import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { auditActions } from './audit-actions.ts';
import { apiErrorDefinitions } from './errors.ts';
import type { Operation } from './operation.ts';
import { allOperations, operations } from './operations/all.ts';
import { fillPathTemplate, listOperationPaths } from './paths.ts';

const all = Object.entries(allOperations) as [string, Operation][];

describe('operations', () => {
  it('are keyed by their names', () => {
    expect(all.map(([, { name }]) => name)).toEqual(all.map(([name]) => name));
  });

  it('include every operation that a file in operations/ exports', async () => {
    const folder = fileURLToPath(new URL('operations/', import.meta.url));
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const modules = await Promise.all(files.map((name) => import(`${folder}${name}`) as Promise<object>));
    const exported = modules.flatMap((module) => Object.values(module)).filter((value) => 'grantees' in Object(value));
    const listed: readonly unknown[] = Object.values(allOperations);
    expect(exported.filter((value) => !listed.includes(value))).toEqual([]);
    expect(exported).not.toEqual([]);
  });

  it('have unique combinations of method and path', () => {
    const places = all.flatMap(([, operation]) =>
      listOperationPaths(operation).map((path) => `${operation.method} ${path.replace(/\{\w+\}/g, '{}')}`),
    );
    expect(places.filter((place, index) => places.indexOf(place) !== index)).toEqual([]);
  });
});

describe.each(all)('the operation %s', (_, operation) => {
  it('has exactly the parameters of its path', () => {
    const braces = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(Object.keys(operation.params.shape).sort()).toEqual(braces.sort());
  });

  it('has a body and a body size limit only if its method allows a body', () => {
    const takesNone = operation.body instanceof z.ZodUndefined;
    expect(operation.bodyBytes > 0).toBe(!takesNone);
    if (operation.method === 'GET' || operation.method === 'DELETE') expect(takesNone).toBe(true);
  });

  it('lists only reasons of the table `apiErrorDefinitions`, and no reason twice', () => {
    expect(operation.errors.filter((reason) => !(reason in apiErrorDefinitions))).toEqual([]);
    expect(new Set(operation.errors).size).toBe(operation.errors.length);
  });

  it('has an audit action if it concerns secrets, keys, members, the vault or the audit log, or a person starts a session', () => {
    const isAudited =
      ['secrets', 'rooms', 'keys', 'members', 'audit', 'operator'].includes(operation.tag) ||
      /^\/apiKeys|^\/agents.*\/start$/.test(operation.path);
    if (isAudited) expect(auditActions).toContain(operation.audit);
  });

  it('has an object as its response, not a list or a string', () => {
    expect(operation.response).toBeInstanceOf(z.ZodObject);
  });

  it('can fail with 404 if it has a path parameter, and with 400 if it has input', () => {
    if (Object.keys(operation.params.shape).length > 0) {
      expect(operation.errors.filter((reason) => apiErrorDefinitions[reason].status === 404)).not.toEqual([]);
    }
    if (operation.bodyBytes > 0 || Object.keys(operation.query.shape).length > 0) {
      expect(operation.errors).toContain('invalid-request');
    }
  });
});

describe('fillPathTemplate', () => {
  it('percent-encodes values', () => {
    expect(fillPathTemplate('/agents/{agentName}/x', { agentName: '../a b?c#d%/é' })).toBe(
      '/agents/..%2Fa%20b%3Fc%23d%25%2F%C3%A9/x',
    );
  });

  it.each(['', '.', '..'])('throws for the agent name %j, which would change the path', (agentName) => {
    expect(() => fillPathTemplate('/agents/{agentName}', { agentName })).toThrow(
      apiErrorDefinitions['not-found'].message,
    );
    expect(() => fillPathTemplate('/organizations/{organization}/x', { organization: agentName })).toThrow(
      apiErrorDefinitions['organization-not-found'].message,
    );
  });
});

describe('SessionResponse', () => {
  const { shape } = operations.getSession.response;

  /** The fields of a session that existing clients require, and whether the value of each field may be null. */
  it.each([
    ['sessionId', false],
    ['serviceId', false],
    ['organizationId', false],
    ['deploymentId', false],
    ['endedAt', true],
    ['botStartSeconds', true],
    ['coldStart', true],
    ['completionStatus', true],
    ['createdAt', false],
    ['updatedAt', false],
    ['resourceMetrics', true],
    ['meetingIds', false],
  ] as const)('requires the field %s (may be null: %s)', (field, nullable) => {
    expect(shape[field].safeParse(undefined).success).toBe(false);
    expect(shape[field].safeParse(null).success).toBe(nullable);
  });
});

describe('Paging', () => {
  const { query } = operations.getSessions;

  it('parses numbers and applies defaults', () => {
    expect(query.parse({ limit: '25' })).toMatchObject({ limit: 25, offset: 0, status: 'all', startType: 'all' });
  });

  it.each(['0', '1001', '1.5', 'ten', '-1', 'Infinity'])('rejects the limit %s', (limit) => {
    expect(query.safeParse({ limit }).success).toBe(false);
  });
});
