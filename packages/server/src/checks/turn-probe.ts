import type { IceServer, IceUrl } from '@bothost/contract';
import { connectStun, type StunConnection } from './stun-connection.ts';
import {
  encodePeerAddress,
  type LongTermCredential,
  readStunAddress,
  readStunError,
  type StunRequest,
  type StunResponse,
  stunAttributes,
} from './stun-message.ts';

/** What a TURN server relays for somebody with valid credentials. */
export type Relay = {
  readonly kind: 'relay';
  /** The address that peers see. */
  readonly relayedAddress: string;
  /** The address of this machine, as the server sees it. */
  readonly ownAddress: string;
  /** Whether the server relays to the bots of this machine, directly or through the relayed address of the bot. */
  readonly relaysToBots: boolean;
  /** A private address to which the server relays, although no bot is there. Null if there is none. */
  readonly openAddress: string | null;
};

export type TurnProbeResult =
  | Relay
  /** The server relays without credentials. */
  | { readonly kind: 'open' }
  | { readonly kind: 'credentials-refused' }
  | { readonly kind: 'refused'; readonly code: number; readonly phrase: string };

/** Addresses of private networks that no bot should have: of cloud metadata, and the last one of each private range. */
const privateAddresses = ['127.0.0.1', '169.254.169.254', '10.255.255.254', '172.31.255.254', '192.168.255.254'];

const udp = 17;
const allocate: StunRequest = {
  method: 'allocate',
  attributes: [['requestedTransport', Buffer.from([udp, 0, 0, 0])]],
};
const release: StunRequest = { method: 'refresh', attributes: [['lifetime', Buffer.alloc(4)]] };
const unauthorized = 401;
const staleNonce = 438;

/** Asks a STUN server for the address of this machine. Resolves with null if the response has none. */
export async function probeStun(url: IceUrl): Promise<string | null> {
  const connection = await connectStun(url);
  try {
    return readStunAddress(await connection.request({ method: 'binding', attributes: [] }), 'mappedAddress');
  } finally {
    connection.close();
  }
}

/** Allocates and frees a relay; relays no data. Rejects with `SilentServerError`, or an error of the system or of TLS. */
export async function probeTurn(url: IceUrl, { username = '', credential = '' }: IceServer): Promise<TurnProbeResult> {
  const connection = await connectStun(url);
  try {
    const first = await connection.request(allocate);
    if (first.isSuccess) {
      await connection.request(release);
      return { kind: 'open' };
    }
    const error = readStunError(first);
    const login = createLogin(first, username, credential);
    if (error.code !== unauthorized || login === null) return { kind: 'refused', ...error };
    const { response, login: used } = await requestAgainIfStale(connection, allocate, login);
    if (!response.isSuccess) {
      const refusal = readStunError(response);
      return refusal.code === unauthorized ? { kind: 'credentials-refused' } : { kind: 'refused', ...refusal };
    }
    const relay = await findRelayedPeers(connection, used, response);
    await connection.request(release, used);
    return relay;
  } finally {
    connection.close();
  }
}

function createLogin(response: StunResponse, username: string, password: string): LongTermCredential | null {
  const realm = response.attributes.get(stunAttributes.realm);
  const nonce = response.attributes.get(stunAttributes.nonce);
  return realm === undefined || nonce === undefined ? null : { username, password, realm, nonce };
}

async function requestAgainIfStale(connection: StunConnection, request: StunRequest, login: LongTermCredential) {
  const response = await connection.request(request, login);
  if (response.isSuccess || readStunError(response).code !== staleNonce) return { response, login };
  const renewed = createLogin(response, login.username, login.password) ?? login;
  return { response: await connection.request(request, renewed), login: renewed };
}

async function findRelayedPeers(
  connection: StunConnection,
  login: LongTermCredential,
  allocation: StunResponse,
): Promise<Relay> {
  const relayedAddress = readStunAddress(allocation, 'relayedAddress') ?? '';
  const ownAddress = readStunAddress(allocation, 'mappedAddress') ?? '';
  const permits = async (address: string) => {
    // The relay has an IPv4 address, so a peer with another kind of address is never reached.
    if (address.includes(':')) return false;
    const peer: StunRequest = {
      method: 'createPermission',
      attributes: [['peerAddress', encodePeerAddress(address)]],
    };
    return (await connection.request(peer, login)).isSuccess;
  };
  const relaysToBots = (await permits(ownAddress)) || (await permits(relayedAddress));
  let openAddress: string | null = null;
  for (const address of privateAddresses) {
    if (openAddress === null && address !== ownAddress && address !== relayedAddress && (await permits(address)))
      openAddress = address;
  }
  return { kind: 'relay', relayedAddress, ownAddress, relaysToBots, openAddress };
}
