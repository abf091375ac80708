/** What a page of Vite’s needs, apart from hosted rooms: sound is worked on by a script that the page makes by itself. */
export function contentSecurityPolicy(host: string): string {
  return [
    "default-src 'self'",
    "script-src 'self' blob:",
    `connect-src 'self' https://${host} wss://${host}`,
    "media-src 'self' blob:",
    "img-src 'self' data:",
  ].join('; ');
}
