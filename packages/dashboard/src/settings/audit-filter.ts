import { readTextParameters } from '../routing/search-values.ts';

/** The filter of the audit log page, as stored in the page's URL. */
export type AuditFilter = {
  readonly action?: string | undefined;
  readonly object?: string | undefined;
  /** The e-mail address of a person, or the name of an API key. */
  readonly actor?: string | undefined;
  readonly result?: string | undefined;
  /** A period that ends now, such as `7d`. Absent means no limit. */
  readonly since?: string | undefined;
};

export function parseAuditFilter(search: Readonly<Record<string, unknown>>): AuditFilter {
  return readTextParameters(search, ['action', 'object', 'actor', 'result', 'since']);
}
