import fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeBodyQueryParameter } from './body-parameter.ts';

it('encodeBodyQueryParameter returns plain base64 of the JSON if no character needs escaping', () => {
  expect(encodeBodyQueryParameter('{"caller":"anna"}')).toBe(Buffer.from('{"caller":"anna"}').toString('base64'));
});

it('encodeBodyQueryParameter returns text that decodes to the same value and needs no percent-encoding', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' })), (body) => {
      const parameter = encodeBodyQueryParameter(JSON.stringify(body));
      expect(parameter).toMatch(/^[A-Za-z0-9]+=*$/);
      const decoded: unknown = JSON.parse(Buffer.from(parameter, 'base64').toString('utf8'));
      // Compare with a JSON copy of the body, because `JSON.stringify` writes -0 as 0.
      expect(decoded).toEqual(JSON.parse(JSON.stringify(body)));
    }),
    { numRuns: 500 },
  );
});

it('encodeBodyQueryParameter encodes every 16-bit character as ASCII text whose Base64 contains no + or /', () => {
  for (let code = 0; code <= 0xffff; code += 1) {
    const json = JSON.stringify({ a: `x${String.fromCharCode(code)}yz` });
    const parameter = encodeBodyQueryParameter(json);
    if (/[+/]/.test(parameter) || Buffer.from(parameter, 'base64').some((byte) => byte > 0x7e)) {
      expect.fail(`character ${code} gives ${parameter}`);
    }
  }
});

it('encodeBodyQueryParameter removes white space between tokens, and keeps numbers and strings', () => {
  const json = '{ "a" :\n[1.0,\t-0 ,1E+2],\r\n"b \\" c" : " d ", "e\\\\" : { } }';
  const decoded = Buffer.from(encodeBodyQueryParameter(json), 'base64').toString();
  expect(decoded).toBe('{"a":[1.0,-0,1E+2],"b \\" c":" d ","e\\\\":{}}');
});
