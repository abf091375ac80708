/** Formats a host for a URL, in which an IPv6 address has brackets. */
export const formatUrlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host);
