/** An authentication challenge (RFC 9110, section 11.6.1). The names of parameters are in lower case. */
export type AuthenticationChallenge = { readonly scheme: string; readonly parameters: ReadonlyMap<string, string> };

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const parameter = new RegExp(`[\\s,]*(${token})\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|(${token}))`, 'y');
const scheme = new RegExp(`[\\s,]*(${token})`, 'y');
/** Matches a token68 (RFC 9110, section 11.2), which schemes such as Negotiate have in place of parameters. */
const token68 = /\s+[A-Za-z0-9._~+/-]+=*(?=\s*(?:,|$))/y;
const maxLength = 8_192;

/** Parses the challenges of a `WWW-Authenticate` header in order, up to the first one that is invalid. */
export function parseChallenges(header: string | readonly string[] | undefined): AuthenticationChallenge[] {
  const text = (typeof header === 'string' ? [header] : (header ?? [])).join(', ').slice(0, maxLength);
  const challenges: AuthenticationChallenge[] = [];
  let at = 0;
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  for (let name = next(scheme); name !== null; name = next(scheme)) {
    const parameters = new Map<string, string>();
    if (next(token68) === null) {
      for (let one = next(parameter); one !== null; one = next(parameter)) {
        const [, key = '', quoted, plain = ''] = one;
        if (!parameters.has(key.toLowerCase())) {
          parameters.set(key.toLowerCase(), quoted === undefined ? plain : quoted.replace(/\\(.)/g, '$1'));
        }
      }
    }
    challenges.push({ scheme: (name[1] ?? '').toLowerCase(), parameters });
  }
  return challenges;
}
