import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ApiClient, createApiClient, type Role, type User } from '@bothost/contract';
import type { TestServer } from './test-server.ts';

export const testPassword = 'a parrot on a shoulder';

/**
 * An HTTP client that acts like a browser: it keeps cookies and sends the headers that browsers add to requests from a page.
 */
export type FakeBrowser = {
  readonly client: ApiClient;
  /** API client for the paths of an organization. */
  readonly within: (organization: string) => ApiClient;
  /** The `Cookie` header of the next request. */
  readonly cookie: () => string;
  /** All `Set-Cookie` headers that this browser has received. */
  readonly received: readonly string[];
  readonly setCookie: (name: string, value: string) => void;
};

export function createFakeBrowser(origin: string): FakeBrowser {
  const jar = new Map<string, string>();
  const received: string[] = [];
  const cookie = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  const send: typeof fetch = async (input, init) => {
    const headers = { ...(init?.headers as Record<string, string>), 'sec-fetch-site': 'same-origin', origin };
    const response = await fetch(input, {
      ...init,
      headers: jar.size === 0 ? headers : { ...headers, cookie: cookie() },
    });
    for (const line of response.headers.getSetCookie()) {
      received.push(line);
      const [pair = '', ...attributes] = line.split('; ');
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      if (attributes.includes('Max-Age=0')) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  };
  return {
    client: createApiClient({ origin, fetch: send }),
    within: (organization) => createApiClient({ origin, organization, fetch: send }),
    cookie,
    received,
    setCookie: (name, value) => void jar.set(name, value),
  };
}

export async function createOperatorClient(service: TestServer): Promise<ApiClient> {
  const token = (await readFile(join(service.dataDirectory, 'operator-token'), 'utf8')).trim();
  return createApiClient({ origin: service.url, key: token });
}

/** Returns the token at the end of a one-time link. */
export const parseLinkToken = (url: string) => new URL(url).hash.slice(1);

export type TestPerson = FakeBrowser & { readonly user: User; readonly email: string };

/** Creates an account with an invitation from the operator, in a new browser. */
export async function signUpPerson(
  service: TestServer,
  name: string,
  role: Role = 'owner',
  organization: string = service.organization,
): Promise<TestPerson> {
  const operator = await createOperatorClient(service);
  const { url } = await operator.createOperatorInvitation({ body: { organization, role } });
  const browser = createFakeBrowser(service.url);
  const email = `${name}@example.com`;
  const user = await browser.client.signUp({
    body: { token: parseLinkToken(url), email, name, password: testPassword },
  });
  return { ...browser, user, email };
}
