import { createHash, createHmac, randomBytes } from 'node:crypto';
import ipaddr from 'ipaddr.js';

/** Methods of STUN (RFC 8489) and TURN (RFC 8656) that the checks use. */
export const stunMethods = { binding: 0x001, allocate: 0x003, refresh: 0x004, createPermission: 0x008 } as const;
export type StunMethod = keyof typeof stunMethods;

/** Attributes of messages (RFC 8489, section 18.3; RFC 8656, section 18). */
export const stunAttributes = {
  username: 0x0006,
  messageIntegrity: 0x0008,
  errorCode: 0x0009,
  lifetime: 0x000d,
  peerAddress: 0x0012,
  realm: 0x0014,
  nonce: 0x0015,
  relayedAddress: 0x0016,
  requestedTransport: 0x0019,
  mappedAddress: 0x0020,
} as const;
type StunAttribute = keyof typeof stunAttributes;

const magicCookie = 0x2112a442;
const stunHeaderBytes = 20;
const macBytes = 20;

export type StunRequest = {
  readonly method: StunMethod;
  readonly attributes: readonly (readonly [name: StunAttribute, value: Buffer])[];
};

export type StunResponse = {
  readonly isSuccess: boolean;
  readonly transactionId: Buffer;
  readonly attributes: ReadonlyMap<number, Buffer>;
};

/** The long-term credential of RFC 8489, section 9.2. `realm` and `nonce` come from the server. */
export type LongTermCredential = {
  readonly username: string;
  readonly password: string;
  readonly realm: Buffer;
  readonly nonce: Buffer;
};

/** Encodes a request with a new transaction id. With a credential, it ends with a MAC. */
export function encodeStunRequest({ method, attributes }: StunRequest, credential: LongTermCredential | null): Buffer {
  const transactionId = randomBytes(12);
  const encode = (all: StunRequest['attributes'], macLength: number) => {
    const body = Buffer.concat(all.map(([name, value]) => encodeAttribute(name, value)));
    const header = Buffer.alloc(8);
    header.writeUInt16BE(stunMethods[method], 0);
    header.writeUInt16BE(body.length + macLength, 2);
    header.writeUInt32BE(magicCookie, 4);
    return Buffer.concat([header, transactionId, body]);
  };
  if (credential === null) return encode(attributes, 0);
  const { username, password, realm, nonce } = credential;
  // The length in the header counts the MAC, although the MAC does not cover itself.
  const message = encode(
    [...attributes, ['username', Buffer.from(username)], ['realm', realm], ['nonce', nonce]],
    4 + macBytes,
  );
  const key = createHash('md5').update(`${username}:`).update(realm).update(`:${password}`).digest();
  return Buffer.concat([
    message,
    encodeAttribute('messageIntegrity', createHmac('sha1', key).update(message).digest()),
  ]);
}

function encodeAttribute(name: StunAttribute, value: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(stunAttributes[name], 0);
  head.writeUInt16BE(value.length, 2);
  return Buffer.concat([head, value, Buffer.alloc(-value.length & 3)]);
}

/** Returns the size in bytes of the message at the start of a stream. Null if more bytes are needed. */
export function measureStunMessage(bytes: Buffer): number | null {
  return bytes.length < stunHeaderBytes ? null : stunHeaderBytes + bytes.readUInt16BE(2);
}

/** Decodes a response. Returns null for anything else. */
export function decodeStunResponse(bytes: Buffer): StunResponse | null {
  if (bytes.length < stunHeaderBytes || bytes.readUInt32BE(4) !== magicCookie) return null;
  if (measureStunMessage(bytes) !== bytes.length) return null;
  const messageClass = bytes.readUInt16BE(0) & 0x0110;
  if (messageClass !== 0x0100 && messageClass !== 0x0110) return null;
  const attributes = new Map<number, Buffer>();
  for (let offset = stunHeaderBytes; offset + 4 <= bytes.length; ) {
    const length = bytes.readUInt16BE(offset + 2);
    const type = bytes.readUInt16BE(offset);
    // Of attributes with the same type, the first one counts.
    if (!attributes.has(type)) attributes.set(type, bytes.subarray(offset + 4, offset + 4 + length));
    offset += 4 + length + (-length & 3);
  }
  return { isSuccess: messageClass === 0x0100, transactionId: bytes.subarray(8, stunHeaderBytes), attributes };
}

/** Returns code and phrase of an error response, such as 401. The code is 0 if the response has none. */
export function readStunError({ attributes }: StunResponse): { readonly code: number; readonly phrase: string } {
  const value = attributes.get(stunAttributes.errorCode);
  if (value === undefined || value.length < 4) return { code: 0, phrase: '' };
  return { code: value.readUInt8(2) * 100 + value.readUInt8(3), phrase: value.subarray(4).toString().slice(0, 200) };
}

/** Returns the IP address of an attribute such as XOR-MAPPED-ADDRESS, or null if it is missing or malformed. */
export function readStunAddress(
  { attributes, transactionId }: StunResponse,
  name: 'mappedAddress' | 'relayedAddress',
): string | null {
  const value = attributes.get(stunAttributes[name]);
  if (value === undefined || (value.length !== 8 && value.length !== 20)) return null;
  return ipaddr.fromByteArray([...applyAddressMask(value.subarray(4), transactionId)]).toString();
}

/** Encodes XOR-PEER-ADDRESS for an IPv4 address, with port 0, because permissions ignore the port. */
export function encodePeerAddress(address: string): Buffer {
  const masked = applyAddressMask(Buffer.from(ipaddr.IPv4.parse(address).toByteArray()), Buffer.alloc(12));
  const portMask = magicCookie >>> 16;
  return Buffer.concat([Buffer.from([0, 1, portMask >> 8, portMask & 0xff]), masked]);
}

/** XOR with the magic cookie and, for IPv6, the transaction id (RFC 8489, section 14.2). The operation is its own inverse. */
function applyAddressMask(address: Buffer, transactionId: Buffer): Buffer {
  const cookie = Buffer.alloc(4);
  cookie.writeUInt32BE(magicCookie);
  const mask = Buffer.concat([cookie, transactionId]);
  return Buffer.from(address.map((byte, index) => byte ^ (mask[index] ?? 0)));
}
