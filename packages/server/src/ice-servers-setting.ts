import { IceServer, needsTurnCredentials, parseIceUrl } from '@bothost/contract';
import { z } from 'zod';

/** A bot gets the list in a header, so it must be short. */
const maxCharacters = 8_192;

const example = '[{"urls": "turn:turn.example.com:3478"}]';
// Hide what is before an @, because it may be a password.
const hidePassword = (url: string) => url.replace(/^.*@/, '...@');
const IceUrlText = z.string().refine((text) => parseIceUrl(text) !== null, {
  error: ({ input }) =>
    `"${hidePassword(String(input))}" is not a URL such as stun:host:3478, turn:host:3478?transport=udp or turns:host:5349`,
});
const ConfiguredIceServer = z
  .strictObject({
    urls: z.preprocess((urls) => (typeof urls === 'string' ? [urls] : urls), z.array(IceUrlText).min(1)),
    username: z.string().min(1).optional(),
    credential: z.string().min(1).optional(),
  })
  .refine(
    ({ username, credential }) => (username === undefined) === (credential === undefined),
    'username and credential belong together',
  )
  .pipe(IceServer);

/** Parses the JSON of `BOTHOST_ICE_SERVERS`. No message quotes a credential. */
export const IceServersSetting = z.string().transform((text, check): IceServer[] => {
  const fail = (message: string) => {
    check.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  if (text.length > maxCharacters) return fail(`longer than ${maxCharacters} characters`);
  const parsed = parseJson(text);
  if (!Array.isArray(parsed)) return fail(`not a JSON list such as ${example}`);
  return parsed.flatMap((entry: unknown, index) => {
    const server = ConfiguredIceServer.safeParse(entry);
    if (server.success) return server.data;
    const [issue] = server.error.issues;
    const field = issue?.path[0] === undefined ? '' : `${String(issue.path[0])}: `;
    return fail(`server ${index + 1}: ${field}${issue?.message ?? 'invalid'}`);
  });
});

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns what is wrong with the two settings together, or null. */
export function findTurnSecretProblem(servers: readonly IceServer[], turnSecret: string | undefined): string | null {
  const waiting = servers.find(needsTurnCredentials);
  if (waiting !== undefined && turnSecret === undefined)
    return `BOTHOST_ICE_SERVERS: ${waiting.urls.find((url) => /^turn/i.test(url))} has no credentials. Add username and credential, or set BOTHOST_TURN_SECRET`;
  if (waiting === undefined && turnSecret !== undefined)
    return 'BOTHOST_TURN_SECRET: BOTHOST_ICE_SERVERS has no turn: server without username and credential that would use it';
  return null;
}
