import { openApiDocument } from '@bothost/contract';

/** What the API reference reads of an operation of the OpenAPI document. */
type ReferenceOperation = {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly description?: string;
};
type PathEntry = Readonly<Record<string, unknown>>;

/** The OpenAPI document of the API reference, as far as this folder reads it. */
export type ReferenceDocument = {
  readonly info: { readonly title: string; readonly description: string };
  readonly tags: readonly {
    readonly name: string;
    readonly 'x-displayName': string;
    readonly description: string;
  }[];
  readonly paths: Readonly<Record<string, PathEntry>>;
};

const organizationBase = '/organizations/{organization}';
const methods = ['get', 'post', 'put', 'patch', 'delete', 'options', 'head'] as const;

/**
 * Creates the OpenAPI document of the API reference, which lists each operation once: without the path with an organization if there
 * is a short one, which behaves the same, and with one method for the requests that are passed on to a bot. The page adds the
 * address of the service.
 */
export function createReferenceDocument(): ReferenceDocument {
  const { servers: _, ...document } = openApiDocument('') as ReferenceDocument & { readonly servers: unknown };
  const paths = Object.entries(document.paths).map(([path, entry]) => {
    const short = path.replace(organizationBase, '');
    const other = short === path ? {} : (document.paths[short] ?? {});
    return [path, mergeMethods(Object.fromEntries(Object.entries(entry).filter(([key]) => !(key in other))))] as const;
  });
  return { ...document, paths: Object.fromEntries(paths.filter(([, entry]) => Object.keys(entry).length > 0)) };
}

/** Replaces operations of a path that differ only in their method. */
function mergeMethods(entry: PathEntry): PathEntry {
  const operations = listOperations(entry);
  if (operations.length < methods.length) return entry;
  const [summary] = operations.map(({ operation }) => operation.summary.replace(/ \([A-Z]+\)$/, ''));
  const kept = Object.entries(entry).filter(([key]) => key === 'post' || !methods.some((method) => method === key));
  const names = operations.map(({ method }) => method.toUpperCase()).join(', ');
  const description = `${entry['description']} The method can be ${names}.`;
  return { ...Object.fromEntries(kept), post: { ...(entry['post'] as ReferenceOperation), summary, description } };
}

/** Lists the operations of a path. */
export function listOperations(
  entry: PathEntry,
): readonly { readonly method: string; readonly operation: ReferenceOperation }[] {
  return methods.flatMap((method) =>
    method in entry ? [{ method, operation: entry[method] as ReferenceOperation }] : [],
  );
}
