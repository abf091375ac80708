import { failure } from './errors.ts';
import type { Operation } from './operation.ts';

export const apiBase = '/v1';
export const publicBase = '/v1/public';
export const operatorBase = '/v1/operator';
/** Where bots get ICE servers (docs/bot-contract.md). Not an operation: it needs no key, and no client of the API uses it. */
export const iceServersPath = '/v1/ice-servers';

/** The paths of an operation; the first one is for clients without an organization. */
export function pathsOf(operation: Pick<Operation, 'key' | 'path'>): readonly string[] {
  switch (operation.key) {
    case 'public':
      return [publicBase + operation.path];
    case 'operator':
      return [operatorBase + operation.path];
    case 'account':
      return [apiBase + operation.path];
    case 'private':
      return [apiBase + operation.path, `${apiBase}/organizations/{organization}${operation.path}`];
  }
}

/**
 * Replaces the placeholders of a path by percent-encoded values.
 *
 * @throws failure 404 for an empty value, `.` or `..`, because URLs would resolve them to the path of another operation
 */
export function fillPath(path: string, values: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? '';
    if (['', '.', '..'].includes(value)) {
      throw failure(name === 'organization' ? 'organization-not-found' : 'not-found');
    }
    return encodeURIComponent(value);
  });
}
