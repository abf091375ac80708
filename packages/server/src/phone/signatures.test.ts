import { describe, expect, it } from 'vitest';
import { type AnswerRequest, verifyTwilioSignature } from './signatures.ts';

const now = new Date('2026-11-20T12:00:00.000Z');
const form = {
  CallSid: 'CA1234567890ABCDE',
  Caller: '+14158675310',
  Digits: '1234',
  From: '+14158675310',
  To: '+18005551212',
};

function requestOf(url: string, headers: Record<string, string>, fields: Record<string, string> | null): AnswerRequest {
  const [, serviceUrl = '', target = ''] = /^(https?:\/\/[^/]+)(.*)$/.exec(url) ?? [];
  const body = Buffer.from(fields === null ? '' : String(new URLSearchParams(fields)));
  return { method: fields === null ? 'GET' : 'POST', serviceUrl, target, headers, body };
}

describe('verifyTwilioSignature', () => {
  // The example of Twilio's documentation, "Webhooks security".
  const published = { 'x-twilio-signature': 'GvWf1cFY/Q7PnoempGyD5oXAezc=' };
  const verify = (url: string, headers = published) =>
    verifyTwilioSignature(requestOf(url, headers, form), '12345', now);

  it("accepts the example of Twilio's documentation, also with the default port in the URL", () => {
    expect(verify('https://mycompany.com/myapp.php?foo=1&bar=2')).toBeNull();
    expect(verify('https://mycompany.com:443/myapp.php?foo=1&bar=2')).toBeNull();
  });

  it.each(['https://mycompany.com/myapp.php?bar=2&foo=1', 'http://mycompany.com/myapp.php?foo=1&bar=2'])(
    'rejects its signature for the URL %s',
    (url) => expect(verify(url)).toBe('signature-wrong'),
  );
});
