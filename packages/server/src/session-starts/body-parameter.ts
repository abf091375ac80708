const stringOrSpace = /"(?:[^"\\]|\\.)*"|\s+/g;

/**
 * Encodes a start body as the query parameter of a WebSocket URL: standard base64 of the JSON. First removes white space
 * between tokens, and replaces characters that would produce `+` or `/` with `\u` escapes, because a `+` in a query is decoded
 * as a space.
 */
export function encodeBodyQueryParameter(json: string): string {
  const compact = json.replace(stringOrSpace, (token) => (token.startsWith('"') ? token : ''));
  const escaped = compact.replace(
    /[^ -=@-}]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return Buffer.from(escaped, 'latin1').toString('base64');
}
