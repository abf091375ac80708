import { describe, expect, it } from 'vitest';
import { parseIceUrl } from './ice-server.ts';

describe('parseIceUrl', () => {
  it.each([
    ['stun:stun.example.com', { scheme: 'stun', host: 'stun.example.com', port: 3478, transport: 'udp' }],
    ['stuns:stun.example.com', { scheme: 'stuns', host: 'stun.example.com', port: 5349, transport: 'tcp' }],
    ['turn:192.0.2.1:3479', { scheme: 'turn', host: '192.0.2.1', port: 3479, transport: 'udp' }],
    ['turn:[2001:db8::1]?transport=tcp', { scheme: 'turn', host: '2001:db8::1', port: 3478, transport: 'tcp' }],
    ['TURNS:t.example:443?transport=TCP', { scheme: 'turns', host: 't.example', port: 443, transport: 'tcp' }],
  ])('parses %s', (text, expected) => {
    expect(parseIceUrl(text)).toEqual(expected);
  });

  it.each([
    '',
    'turn:',
    'turn://turn.example.com',
    'https://turn.example.com',
    'turn:user:password@turn.example.com',
    'turn:turn.example.com:0',
    'turn:turn.example.com:65536',
    'turn:turn.example.com?transport=tls',
    'turns:turn.example.com?transport=udp',
    'stun:stun.example.com?transport=udp',
    'turn:turn.example.com/path',
    'turn:turn.example.com\r\nx: y',
  ])('rejects %j', (text) => {
    expect(parseIceUrl(text)).toBeNull();
  });
});
