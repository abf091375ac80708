import { publicBase } from '@bothost/contract';

/** A request for the bot of a session (bot contract 2.12). `target` is the path and query as the bot gets them. */
export type SessionPath = {
  readonly agentName: string;
  readonly sessionId: string;
  readonly target: string;
  /** It names a route that only the service may ask. */
  readonly reserved: boolean;
};

const pattern = new RegExp(`^${publicBase}/([^/?#]+)/sessions/([^/?#]+)(/[^?#]*)?(\\?[^#]*)?(#.*)?$`);

/** Null: not a path of the session proxy. */
export function parseSessionPath(url: string): SessionPath | null {
  const match = pattern.exec(url);
  if (match === null) return null;
  const [, agentName = '', sessionId = '', path = '/', query = ''] = match;
  try {
    return {
      agentName: decodeURIComponent(agentName),
      sessionId: decodeURIComponent(sessionId),
      // Two slashes at the beginning are the name of a host to a server that reads this as a URL.
      target: path.replace(/^[/\\]+/, '/') + query,
      reserved: isReserved(path),
    };
  } catch {
    // Broken percent-encoding names nothing.
    return null;
  }
}

const reservedPaths = new Set(['/bot', '/ws', '/whatsapp', '/readyz', '/livez']);
const reservedFolders = ['/pcc', '/_bot'];

/** What some server ends a segment at: parameters, and, once decoded, a query, a fragment, space and control characters. */
const segmentEnd = /[;?#\0-\x20\x7f]/;

/**
 * Whether a path is one of the reserved ones, however it is written: decoded, with empty, `.` and `..` segments resolved.
 * A server that reads it less strictly must not find one behind another spelling, so backslashes and case count too.
 */
export function isReserved(path: string): boolean {
  const segments: string[] = [];
  for (const written of decodeFully(path).replaceAll('\\', '/').toLowerCase().split('/')) {
    const segment = written.split(segmentEnd, 1)[0] ?? '';
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  const plain = `/${segments.join('/')}`;
  return (
    reservedPaths.has(plain) || reservedFolders.some((folder) => plain === folder || plain.startsWith(`${folder}/`))
  );
}

/** @throws URIError when the path itself is not percent-encoded; a `%` that it encodes is a `%`, and no error. */
function decodeFully(path: string): string {
  let text = decodeURIComponent(path);
  for (let round = 1; round < 3; round += 1) text = text.replace(/(?:%[0-9a-f]{2})+/gi, decodeIfPossible);
  return text;
}

function decodeIfPossible(escapes: string): string {
  try {
    return decodeURIComponent(escapes);
  } catch {
    return escapes;
  }
}
