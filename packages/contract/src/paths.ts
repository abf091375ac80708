import { failure } from './errors.ts';
import type { Operation } from './operation.ts';

/** Everything of the REST APIs stands below it. */
export const apiBase = '/v1';
export const publicBase = '/v1/public';
export const operatorBase = '/v1/operator';
/**
 * Where bots ask for ICE servers at each offer. It is not an operation: the bot contract gives its shape, bots ask without
 * a key, and no client of the API ever does.
 */
export const iceServersPath = '/v1/ice-servers';

/** The paths an operation is served at; the first is the one that clients without an organization use. */
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
 * Puts values into the braces of a path, percent-encoded. Throws a 404 for a value that no path can carry: the empty one,
 * and the dots that URLs resolve away, which would lead to another operation.
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
