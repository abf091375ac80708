import { failure } from './errors.ts';
import type { Operation } from './operation.ts';

export const apiBase = '/v1';
export const publicBase = '/v1/public';
export const operatorBase = '/v1/operator';
/**
 * Bots get ICE servers from this path (docs/bot-contract.md). It is not an operation, because it needs no key and no API
 * client uses it.
 */
export const iceServersPath = '/v1/ice-servers';

/** Lists the paths of an operation. The first path is for clients without an organization. */
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
 * Replaces the placeholders of a path with percent-encoded values. @throws failure 404 for an empty value, `.` or `..`,
 * because URLs would resolve these to the path of another operation
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
