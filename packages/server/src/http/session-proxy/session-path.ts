import { publicApiBasePath } from '@bothost/contract';

/** A request for the bot of a session. `target` is the path and query for the bot. */
export type SessionPath = {
  readonly agentName: string;
  readonly sessionId: string;
  readonly target: string;
  readonly reserved: boolean;
};

const pattern = new RegExp(`^${publicApiBasePath}/([^/?#]+)/sessions/([^/?#]+)(/[^?#]*)?(\\?[^#]*)?(#.*)?$`);

export function parseSessionPath(url: string): SessionPath | null {
  const match = pattern.exec(url);
  if (match === null) return null;
  const [, agentName = '', sessionId = '', path = '/', query = ''] = match;
  try {
    return {
      agentName: decodeURIComponent(agentName),
      sessionId: decodeURIComponent(sessionId),
      // Collapse leading slashes, because a server that parses the target as a URL would read two slashes as the start
      // of a host name.
      target: path.replace(/^[/\\]+/, '/') + query,
      reserved: isReservedPath(path),
    };
  } catch {
    // A path with malformed percent-encoding is not a path of the session proxy.
    return null;
  }
}

const reservedPaths = new Set(['/bot', '/ws', '/whatsapp', '/readyz', '/livez']);
const reservedFolders = ['/pcc', '/_bot'];

/**
 * Characters at which some servers end a path segment: `;`, and after decoding also `?`, `#`, spaces and control characters.
 */
const segmentEnd = /[;?#\0-\x20\x7f]/;

/** Whether a path is reserved in any spelling that a bot's server may accept, such as with backslashes. */
export function isReservedPath(path: string): boolean {
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

/**
 * Decodes a path up to three times, because a bot's server may decode a path more than once.
 *
 * @throws URIError if the path itself has malformed percent-encoding
 */
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
