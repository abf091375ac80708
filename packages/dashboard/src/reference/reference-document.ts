type Json = { readonly [key: string]: unknown };

const organizationBase = '/organizations/{organization}';

/**
 * Prepares the OpenAPI document for the API reference. Most operations have a short path and a path with an organization, which
 * behave the same. Keeps only the short path, so that each operation is listed once.
 */
export function createApiReferenceDocument(document: Json): Json {
  const paths = document['paths'] as Readonly<Record<string, Json>>;
  const shown = Object.entries(paths).map(([path, entry]) => {
    const short = path.replace(organizationBase, '');
    const other = short === path ? {} : (paths[short] ?? {});
    return [path, Object.fromEntries(Object.entries(entry).filter(([method]) => !(method in other)))] as const;
  });
  return { ...document, paths: Object.fromEntries(shown.filter(([, entry]) => Object.keys(entry).length > 0)) };
}
