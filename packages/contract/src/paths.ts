import type { Operation } from './operation.ts';

/** Everything of the REST APIs stands below it. */
export const apiBase = '/v1';
export const publicBase = '/v1/public';

/** The paths an operation is served at; the first is the one that clients without an organization use. */
export function pathsOf(operation: Pick<Operation, 'key' | 'path'>): readonly string[] {
  switch (operation.key) {
    case 'public':
      return [publicBase + operation.path];
    case 'account':
      return [apiBase + operation.path];
    case 'private':
      return [apiBase + operation.path, `${apiBase}/organizations/{organization}${operation.path}`];
  }
}

/** Puts values into the braces of a path, percent-encoded. */
export function fillPath(path: string, values: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
}
