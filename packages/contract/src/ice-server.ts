import { z } from 'zod';

/** The header with which the service sends a session's ICE servers to its bot, as JSON in ASCII. */
export const iceServersHeader = 'bothost-ice-servers';

/** An ICE server, as `RTCIceServer` of W3C WebRTC. A TURN server has a user name and a credential. */
export const IceServer = z.object({
  urls: z.array(z.string()),
  username: z.string().optional(),
  credential: z.string().optional(),
});
export type IceServer = z.infer<typeof IceServer>;

/** A parsed `stun:` or `turn:` URL. */
export type IceUrl = {
  readonly scheme: 'stun' | 'stuns' | 'turn' | 'turns';
  /** A name or an IP address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  readonly transport: 'udp' | 'tcp';
};

/** Parses a URL of RFC 7064 or RFC 7065. Returns null for other text, and for DTLS, which bots do not support. */
export function parseIceUrl(text: string): IceUrl | null {
  const parts = /^(stuns?|turns?):(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::(\d{1,5}))?(?:\?transport=(udp|tcp))?$/i.exec(
    text,
  );
  if (parts === null) return null;
  const [, scheme = '', address, name, digits, transport] = parts;
  const kind = scheme.toLowerCase() as IceUrl['scheme'];
  const isSecure = kind.endsWith('s');
  const port = digits === undefined ? (isSecure ? 5349 : 3478) : Number(digits);
  const isRefused =
    (transport !== undefined && kind.startsWith('stun')) || (isSecure && transport?.toLowerCase() === 'udp');
  if (isRefused || port < 1 || port > 65_535) return null;
  const isTcp = isSecure || transport?.toLowerCase() === 'tcp';
  return { scheme: kind, host: address ?? name ?? '', port, transport: isTcp ? 'tcp' : 'udp' };
}

/** Whether a TURN server has no credentials of its own, so that each session gets time-limited ones. */
export function needsTurnCredentials({ urls, username }: IceServer): boolean {
  return username === undefined && urls.some((url) => /^turn/i.test(url));
}
