/** The close code of a WebSocket whose connection ended without a close frame (RFC 6455, section 7.1.5). */
export const brokenConnectionCode = 1006;

/** `code` is the close code of the bot. `service`: the service could not continue to relay. */
export type RelayedSocketEnd =
  | { readonly by: 'client' }
  | { readonly by: 'service' }
  | { readonly by: 'bot'; readonly code: number };
