/**
 * Encodes a start body as the query parameter of a WebSocket URL: standard base64 of the JSON. First replaces
 * characters that would produce `+` or `/` with `\u` escapes, because a `+` in a query is decoded as a space. `json` is
 * compact JSON text.
 */
export function encodeBodyQueryParameter(json: string): string {
  const escaped = json.replace(
    /[^ -=@-}]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return Buffer.from(escaped, 'latin1').toString('base64');
}
