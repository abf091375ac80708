type Json = { readonly [key: string]: unknown };

const organizationBase = '/organizations/{organization}';

/**
 * The OpenAPI document as the reference shows it. Most operations have a short path and one below an organization, which work
 * the same. Only the short one is kept, so that no operation is listed twice.
 */
export function referenceDocument(document: Json): Json {
  const paths = document['paths'] as Readonly<Record<string, Json>>;
  const shown = Object.entries(paths).map(([path, entry]) => {
    const short = path.replace(organizationBase, '');
    const other = short === path ? {} : (paths[short] ?? {});
    return [path, Object.fromEntries(Object.entries(entry).filter(([method]) => !(method in other)))] as const;
  });
  return { ...document, paths: Object.fromEntries(shown.filter(([, entry]) => Object.keys(entry).length > 0)) };
}
