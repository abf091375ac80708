import { carrierMessageBufferLimits } from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import { createPhoneCallMessageBuffer } from './call-message-buffer.ts';

const text = (value: unknown) => Buffer.from(JSON.stringify(value));
const media = (bytes: number, more: object = {}) =>
  text({ event: 'media', media: { payload: Buffer.alloc(bytes).toString('base64') }, ...more });

describe('createPhoneCallMessageBuffer', () => {
  it('keeps the last two seconds of audio, and all other messages', () => {
    const call = createPhoneCallMessageBuffer('twilio');
    const audio = Array.from({ length: 5 }, (_, second) => media(8000, { second }));
    const [start, mark, stop] = ['start', 'mark', 'stop'].map((event) => text({ event }));
    const bytes = Buffer.from([1, 2, 3]);
    const messages = [start, ...audio.slice(0, 2), mark, bytes, ...audio.slice(2), stop] as Buffer[];
    for (const data of messages) expect(call.add(data, data === bytes)).toBe(true);
    expect(call.messages().map(({ data }) => data)).toEqual([start, mark, bytes, audio[3], audio[4], stop]);
    expect(call.messages().map(({ isBinary }) => isBinary)).toEqual([false, false, true, false, false, false]);
  });

  it('converts seconds to bytes with the audio format of the carrier', () => {
    const call = createPhoneCallMessageBuffer('exotel');
    for (let second = 0; second < 4; second += 1) call.add(media(16_000), false);
    expect(call.messages()).toHaveLength(2);
  });

  it('limits the number of large messages that contain little audio', () => {
    const call = createPhoneCallMessageBuffer('twilio');
    for (let sent = 0; sent < 1000; sent += 1) call.add(media(1, { filling: 'x'.repeat(1000) }), false);
    expect(call.messages().length).toBeLessThan(130);
  });

  it('limits the total size of large messages that claim to be audio', () => {
    const call = createPhoneCallMessageBuffer('plivo');
    const silent = text({ event: 'media', media: { payload: '' }, filling: 'x'.repeat(1000) });
    let taken = 0;
    while (call.add(silent, false)) taken += 1;
    expect(taken).toBe(Math.floor(carrierMessageBufferLimits.otherBytes / (silent.length + 64)));
  });

  it('limits the number of empty messages', () => {
    const call = createPhoneCallMessageBuffer('plivo');
    let taken = 0;
    while (taken < 10_000 && call.add(Buffer.alloc(0), false)) taken += 1;
    expect(taken).toBe(carrierMessageBufferLimits.otherBytes / 64);
  });

  it('copies messages that are slices of larger buffers', () => {
    const read = Buffer.alloc(65_536, 'x');
    const message = text({ event: 'mark' });
    message.copy(read, 100);
    const call = createPhoneCallMessageBuffer('twilio');
    call.add(read.subarray(100, 100 + message.length), false);
    const [{ data } = { data: read }] = call.messages();
    expect(data).toEqual(message);
    expect(data.buffer).not.toBe(read.buffer);
  });
});
