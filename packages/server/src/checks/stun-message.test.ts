import { describe, expect, it } from 'vitest';
import {
  decodeStunResponse,
  encodePeerAddress,
  encodeStunRequest,
  readStunAddress,
  readStunError,
} from './stun-message.ts';

const bytes = (hex: string) => Buffer.from(hex.replace(/\s/g, ''), 'hex');

/** The sample responses of RFC 5769, sections 2.2 and 2.3. */
const responses = {
  '192.0.2.1': `0101003c 2112a442 b7e7a701bc34d686fa87dfae 8022000b 7465737420766563746f7220 00200008 0001a147e112a643
    00080014 2b91f599fd9e90c38c7489f92af9ba53f06be7d7 80280004 c07d4c96`,
  '2001:db8:1234:5678:11:2233:4455:6677': `01010048 2112a442 b7e7a701bc34d686fa87dfae 8022000b 7465737420766563746f7220
    00200014 0002a1470113a9faa5d3f179bc25f4b5bed2b9d9 00080014 a382954e4be67bf11784c97c8292c275bfe3ed41 80280004 c8fb0b4c`,
} as const;

describe('decodeStunResponse', () => {
  it.each(Object.entries(responses))('decodes the address %s of a response', (address, hex) => {
    const response = decodeStunResponse(bytes(hex));
    expect(response?.isSuccess).toBe(true);
    expect(response && readStunAddress(response, 'mappedAddress')).toBe(address);
    expect(response && readStunAddress(response, 'relayedAddress')).toBeNull();
  });

  it('decodes code and phrase of an error', () => {
    const error = decodeStunResponse(bytes('0113000c 2112a442 b7e7a701bc34d686fa87dfae 00090008 00000401 6e6f7065'));
    expect(error?.isSuccess).toBe(false);
    expect(error && readStunError(error)).toEqual({ code: 401, phrase: 'nope' });
  });

  it.each([
    ['an empty message', ''],
    ['a request', '00010000 2112a442 b7e7a701bc34d686fa87dfae'],
    ['another magic cookie', '01010000 00000000 b7e7a701bc34d686fa87dfae'],
    ['a length beyond the message', '01010004 2112a442 b7e7a701bc34d686fa87dfae'],
  ])('returns null for %s', (_, hex) => {
    expect(decodeStunResponse(bytes(hex))).toBeNull();
  });
});

describe('encodeStunRequest', () => {
  it('pads attributes, and counts the MAC in the length of the header', () => {
    const login = { username: 'abc', password: 'secret', realm: Buffer.from('realm'), nonce: Buffer.from('n') };
    const message = encodeStunRequest({ method: 'allocate', attributes: [] }, login);
    const [header, user, realm, nonce, mac] = [20, 4 + 4, 4 + 8, 4 + 4, 4 + 20];
    expect(message).toHaveLength(header + user + realm + nonce + mac);
    expect([message.readUInt16BE(0), message.readUInt16BE(2)]).toEqual([0x0003, message.length - header]);
  });
});

describe('encodePeerAddress', () => {
  it('masks an IPv4 address as in the sample of RFC 5769', () => {
    expect(encodePeerAddress('192.0.2.1').subarray(4).toString('hex')).toBe('e112a643');
  });
});
