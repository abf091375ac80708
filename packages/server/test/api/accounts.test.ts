import { createHash } from 'node:crypto';
import { createApiClient } from '@bothost/contract';
import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import {
  createFakeBrowser,
  createOperatorClient,
  parseLinkToken,
  signUpPerson,
  testPassword,
} from '../support/people.ts';
import { openTestConnections } from '../support/test-database.ts';
import { startTestServer } from '../support/test-server.ts';
import { useDatabase, useTestServer } from '../support/use-test-server.ts';

const lines: string[] = [];

const logger = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
const service = await useTestServer({ logger });
const db = await useDatabase(service);
const ada = await signUpPerson(service, 'ada');

const invite = async (body: { email?: string; role?: 'owner' | 'member' | 'viewer' } = {}) =>
  parseLinkToken((await (await createOperatorClient(service)).createOperatorInvitation({ body })).url);
const sessionOf = (cookie: string) => /bothost\.session_token=([^;]+)/.exec(cookie)?.[1] ?? '';

describe('an account', () => {
  it('is created with an invitation link, which works only once', async () => {
    const token = await invite({ role: 'member' });
    const browser = createFakeBrowser(service.url);
    expect(await browser.client.describeLink({ body: { token } })).toMatchObject({
      purpose: 'invitation',
      organization: 'test-org',
      role: 'member',
    });
    const body = { token, email: 'Grace@Example.com', name: 'Grace', password: testPassword };
    expect(await browser.client.signUp({ body })).toMatchObject({
      email: 'grace@example.com',
      organizations: [{ name: 'test-org', role: 'member' }],
    });
    expect(await browser.client.getUser()).toMatchObject({ name: 'Grace', hasPassword: true });
    const again = { ...body, email: 'other@example.com' };
    await expect(createFakeBrowser(service.url).client.signUp({ body: again })).rejects.toMatchObject({
      reason: 'link-invalid',
    });
  });

  it('is created with the first invitation link, which the service prints only while the organization has no member', async () => {
    const fresh = await startTestServer();
    const links = [await fresh.server.createFirstInvitation(), await fresh.server.createFirstInvitation()];
    const [first, second] = links.map((link) => parseLinkToken(link ?? ''));
    const body = { token: second ?? '', email: 'first@example.com', name: 'First', password: testPassword };
    const { client } = createFakeBrowser(fresh.url);
    expect((await client.signUp({ body })).organizations).toMatchObject([{ name: 'test-org', role: 'owner' }]);
    expect(await fresh.server.createFirstInvitation()).toBeNull();
    expect(first).not.toBe(second);
    await fresh.close();
  });

  it('is created only once if an invitation link is used concurrently', async () => {
    const token = await invite();
    const attempts = await Promise.allSettled(
      ['one', 'two', 'three'].map((name) =>
        createFakeBrowser(service.url).client.signUp({
          body: { token, email: `${name}@example.com`, name, password: testPassword },
        }),
      ),
    );
    expect(attempts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    const { rows } = await sql`select email from users where name in ('one', 'two', 'three')`.execute(db);
    expect(rows).toHaveLength(1);
  });

  it.each([
    ['an unknown link', async () => ({ token: 'x'.repeat(43) }), 'link-invalid'],
    ['a link for another address', async () => ({ token: await invite({ email: 'eve@example.com' }) }), 'link-invalid'],
    [
      'an address that has an account',
      async () => ({ token: await invite(), email: 'ada@example.com' }),
      'email-taken',
    ],
    ['a common password', async () => ({ token: await invite(), password: 'password1234' }), 'password-too-weak'],
    [
      'its address as password',
      async () => ({ token: await invite(), password: 'NEW@example.com' }),
      'password-too-weak',
    ],
    ['a short password', async () => ({ token: await invite(), password: 'eleven char' }), 'invalid-request'],
  ])('is not created with %s', async (_, fields, reason) => {
    const body = { email: 'new@example.com', name: 'New', password: testPassword, ...(await fields()) };
    await expect(createFakeBrowser(service.url).client.signUp({ body })).rejects.toMatchObject({ reason });
  });

  it('joins another organization with an invitation', async () => {
    const { client, within } = ada;
    await client.createOrganization({ body: { name: 'second', verboseName: 'Second' } });
    const { url } = await within('second').createInvitation({ body: { role: 'viewer', email: 'alan@example.com' } });
    const alan = await signUpPerson(service, 'alan', 'member');
    await expect(ada.client.acceptInvitation({ body: { token: parseLinkToken(url) } })).rejects.toMatchObject({
      reason: 'link-invalid',
    });
    const { organizations } = await alan.client.acceptInvitation({ body: { token: parseLinkToken(url) } });
    expect(organizations.map(({ name, role }) => [name, role])).toEqual([
      ['second', 'viewer'],
      ['test-org', 'member'],
    ]);
  });

  it('requires the current password to change its e-mail address or password, but not its name', async () => {
    const person = await signUpPerson(service, 'mary');
    const { client } = person;
    expect(await client.updateUser({ body: { name: 'Mary S.' } })).toMatchObject({ name: 'Mary S.' });
    const wrong = { reason: 'sign-in-failed', status: 401 };
    const email = 'mary.s@example.com';
    await expect(client.changeEmail({ body: { email, password: 'wrong' } })).rejects.toMatchObject(wrong);
    await expect(
      client.changeEmail({ body: { email: 'ada@example.com', password: testPassword } }),
    ).rejects.toMatchObject({
      reason: 'email-taken',
    });
    expect(await client.changeEmail({ body: { email, password: testPassword } })).toMatchObject({ email });

    const elsewhere = createFakeBrowser(service.url);
    await elsewhere.client.signIn({ body: { email, password: testPassword } });
    const newPassword = 'another parrot on the other';
    const change = (currentPassword: string) => client.changePassword({ body: { currentPassword, newPassword } });
    await expect(change('wrong')).rejects.toMatchObject(wrong);
    await change(testPassword);
    await client.getUser();
    await expect(elsewhere.client.getUser()).rejects.toMatchObject({ reason: 'session-expired' });
    await expect(elsewhere.client.signIn({ body: { email, password: testPassword } })).rejects.toMatchObject(wrong);
    await elsewhere.client.signIn({ body: { email, password: newPassword } });
  });

  it("accepts a new password through the operator's single-use reset link, and the reset ends all earlier sessions", async () => {
    const person = await signUpPerson(service, 'forgetful');
    const operator = await createOperatorClient(service);
    await expect(operator.createPasswordReset({ body: { email: 'nobody@example.com' } })).rejects.toMatchObject({
      reason: 'user-not-found',
    });
    const [first, second] = [
      await operator.createPasswordReset({ body: { email: person.email } }),
      await operator.createPasswordReset({ body: { email: person.email } }),
    ];
    const elsewhere = createFakeBrowser(service.url);
    const reset = (url: string) =>
      elsewhere.client.resetPassword({ body: { token: parseLinkToken(url), password: 'a completely new one' } });
    expect(await reset(first.url)).toMatchObject({ email: person.email });
    await elsewhere.client.getUser();
    await expect(person.client.getUser()).rejects.toMatchObject({ reason: 'session-expired' });
    await expect(reset(first.url)).rejects.toMatchObject({ reason: 'link-invalid' });
    await expect(reset(second.url)).rejects.toMatchObject({ reason: 'link-invalid' });
  });
});

describe('a browser session', () => {
  it('has a cookie that scripts and other sites cannot use', () => {
    const [cookie = ''] = ada.received;
    expect(cookie).toMatch(/^bothost\.session_token=/);
    expect(cookie.split('; ').slice(1).sort()).toEqual(['HttpOnly', 'Max-Age=2592000', 'Path=/', 'SameSite=Lax']);
  });

  it('has a Secure cookie over HTTPS, and is not created over plain HTTP from another machine', async () => {
    const secure = await startTestServer({ environment: { BOTHOST_PUBLIC_URL: 'https://bots.example.com' } });
    const person = await signUpPerson(secure, 'ada').finally(() => secure.close());
    expect(person.received[0]).toMatch(/^__Secure-bothost\.session_token=.*; Secure/);

    const plain = await startTestServer({ environment: { BOTHOST_TRUSTED_PROXIES: 'loopback' } });
    const response = await fetch(`${plain.url}/v1/auth/sign-in`, {
      method: 'POST',
      headers: { 'x-forwarded-host': 'bots.example.com' },
      body: JSON.stringify({ email: 'a@example.com', password: testPassword }),
    });
    expect(await response.json()).toMatchObject({ reason: 'sign-in-needs-tls' });
    await plain.close();
  });

  it('ends when the same browser signs in again, which creates a new session', async () => {
    const person = await signUpPerson(service, 'rotating');
    const former = person.cookie();
    await person.client.signIn({ body: { email: person.email, password: testPassword } });
    expect(sessionOf(person.cookie())).not.toBe(sessionOf(former));
    const answer = await fetch(`${service.url}/v1/user`, { headers: { cookie: former } });
    expect(await answer.json()).toMatchObject({ reason: 'session-expired' });
  });

  it('gets a new token even if the sign-in request has a session cookie that an attacker chose', async () => {
    const person = await signUpPerson(service, 'fixed');
    const { token } = await db
      .selectFrom('user_sessions')
      .select('token')
      .where('user_id', '=', ada.user.id)
      .limit(1)
      .executeTakeFirstOrThrow();
    for (const chosen of ['chosen', token, `${token}.${'A'.repeat(43)}=`, sessionOf(ada.cookie())]) {
      const victim = createFakeBrowser(service.url);
      victim.setCookie('bothost.session_token', chosen);
      await victim.client.signIn({ body: { email: person.email, password: testPassword } });
      expect(sessionOf(victim.cookie())).not.toBe(chosen);
      expect(await victim.client.getUser()).toMatchObject({ email: person.email });
    }
    const forged = createFakeBrowser(service.url);
    forged.setCookie('bothost.session_token', token);
    await expect(forged.client.getUser()).rejects.toMatchObject({ reason: 'session-expired' });
    await ada.client.signIn({ body: { email: ada.email, password: testPassword } });
  });

  it('ends at sign-out; signing out everywhere also ends all other sessions and device logins', async () => {
    const person = await signUpPerson(service, 'leaving');
    const browsers = [createFakeBrowser(service.url), createFakeBrowser(service.url)];
    for (const { client } of browsers) await client.signIn({ body: { email: person.email, password: testPassword } });
    const { token } = await person.client.createPersonalToken({ body: { name: 'ci' } });
    const [one, two] = browsers;
    const cookie = one?.cookie() ?? '';
    await one?.client.signOut();
    expect((await fetch(`${service.url}/v1/user`, { headers: { cookie } })).status).toBe(401);
    await person.client.getUser();
    await person.client.signOutEverywhere();
    await expect(two?.client.getUser()).rejects.toMatchObject({ reason: 'session-expired' });
    await createApiClient({ origin: service.url, key: token }).getUser();
  });

  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a subdomain', { 'sec-fetch-site': 'same-site' }],
    ['another origin, in an old browser', { origin: 'https://evil.example.com' }],
    ['an opaque origin', { origin: 'null' }],
    ['an unknown origin', {}],
  ])('is refused with 403 for a request from %s', async (_, headers) => {
    for (const path of ['/v1/user/sign-out', '/v1/organizations/test-org/leave']) {
      const answer = await fetch(service.url + path, { method: 'POST', headers: { cookie: ada.cookie(), ...headers } });
      expect([answer.status, await answer.json()]).toMatchObject([403, { reason: 'cross-site-request' }]);
    }
    await ada.client.getUser();
  });

  it('is not created by a form on another site', async () => {
    const answer = await fetch(`${service.url}/v1/auth/sign-in`, {
      method: 'POST',
      headers: { origin: 'https://evil.example.com', 'content-type': 'text/plain' },
      body: JSON.stringify({ email: ada.email, password: testPassword }),
    });
    expect(await answer.json()).toMatchObject({ reason: 'cross-site-request' });
    expect(answer.headers.getSetCookie()).toEqual([]);
  });
});

describe('sign-in', () => {
  it('returns the same error for a wrong password and for an unknown e-mail address', async () => {
    const { client } = createFakeBrowser(service.url);
    const attempt = (email: string) => client.signIn({ body: { email, password: 'wrong password' } });
    const failure = await attempt(ada.email).catch((error: unknown) => error);
    expect(failure).toMatchObject({ reason: 'sign-in-failed', status: 401 });
    await expect(attempt('nobody@example.com')).rejects.toMatchObject({ message: String((failure as Error).message) });
  });

  it('is limited for each account on all servers together, whatever the IP address of the client', async () => {
    const person = await signUpPerson(service, 'guessed');
    await sql`delete from rate_limits`.execute(db);
    const reasons: string[] = [];
    for (let attempt = 0; attempt < 12; attempt += 1) {
      const { client } = createFakeBrowser(service.url);
      await client
        .signIn({ body: { email: person.email, password: `guess ${attempt}` } })
        .catch((error: { reason: string }) => reasons.push(error.reason));
    }
    expect(reasons).toEqual([...Array(10).fill('sign-in-failed'), 'too-many-attempts', 'too-many-attempts']);
    const { client } = createFakeBrowser(service.url);
    await expect(client.signIn({ body: { email: person.email, password: testPassword } })).rejects.toMatchObject({
      status: 429,
    });
    await client.signIn({ body: { email: ada.email, password: testPassword } });
  });

  it('is limited separately for each client behind a trusted proxy', async () => {
    const proxied = await startTestServer({
      environment: { BOTHOST_TRUSTED_PROXIES: 'loopback', BOTHOST_PUBLIC_URL: 'https://bots.example.com' },
    });
    const attempt = async (address: string, index: number) => {
      const body = JSON.stringify({ email: `person${index}@example.com`, password: 'wrong password' });
      const headers = { 'x-forwarded-for': address };
      return (await fetch(`${proxied.url}/v1/auth/sign-in`, { method: 'POST', headers, body })).status;
    };
    const exhaustBuckets = async () => {
      const proxiedDb = await openTestConnections(proxied.database);
      await sql`update rate_limits set tokens = 0, updated_at = now() + interval '1 hour'`.execute(proxiedDb);
      await proxiedDb.destroy();
    };
    expect(await attempt('2001:db8::1', 1)).toBe(401);
    await exhaustBuckets();
    expect(await attempt('2001:db8::1', 2)).toBe(429);
    expect(await attempt('2001:db8:0:0:ffff::2', 3)).toBe(429);
    expect(await attempt('2001:db8:0:1::1', 4)).toBe(401);
    await proxied.close();
  });
});

describe('a personal access token', () => {
  it('acts for its owner, records its last use, and is invalid after its revocation', async () => {
    const person = await signUpPerson(service, 'scripted', 'member');
    const { client } = person;
    const created = await client.createPersonalToken({ body: { name: 'ci', expiresInSeconds: 3_600 } });
    expect(created.token).toMatch(/^pcc_pat_[0-9A-Za-z]{49}$/);
    const script = createApiClient({ origin: service.url, key: created.token, organization: 'test-org' });
    await script.listAgents();
    expect(await script.getUser()).toMatchObject({ email: person.email });
    const { tokens } = await client.listPersonalTokens();
    expect(tokens).toMatchObject([{ id: created.id, name: 'ci', createdBy: 'person', lastUsedAt: expect.any(String) }]);
    expect(JSON.stringify(tokens)).not.toContain(created.token);
    await expect(script.createPersonalToken({ body: { name: 'more' } })).rejects.toMatchObject({ reason: 'forbidden' });
    await expect(ada.client.revokePersonalToken({ params: { tokenId: created.id } })).rejects.toMatchObject({
      reason: 'personal-token-not-found',
    });
    await script.signOut();
    await expect(script.listAgents()).rejects.toMatchObject({ reason: 'key-invalid' });
  });

  it('is invalid after its expiry, and is stored only as a hash', async () => {
    const { token, id } = await ada.client.createPersonalToken({ body: { name: 'brief', expiresInSeconds: 3_600 } });
    const { rows } = await sql<{ text: string }>`select row_to_json(personal_tokens)::text as text from personal_tokens
      where id = ${id}`.execute(db);
    expect(rows[0]?.text).not.toContain(token.slice(13));
    await sql`update personal_tokens set expires_at = now() where id = ${id}`.execute(db);
    const script = createApiClient({ origin: service.url, key: token });
    await expect(script.getUser()).rejects.toMatchObject({ reason: 'key-invalid' });
  });

  it('is not created for a person who already has 50 tokens', async () => {
    const { client } = await signUpPerson(service, 'collector');
    for (let index = 0; index < 50; index += 1) await client.createPersonalToken({ body: { name: `token ${index}` } });
    await expect(client.createPersonalToken({ body: { name: 'one more' } })).rejects.toMatchObject({
      reason: 'personal-tokens-too-many',
    });
  });
});

describe('a device login', () => {
  const device = () => createApiClient({ origin: service.url });
  const grant = 'urn:ietf:params:oauth:grant-type:device_code';
  const start = () => device().startDeviceLogin({ body: { client_id: 'botcli', device_name: 'laptop' } });
  const poll = (code: string) =>
    device().pollDeviceLogin({ body: { client_id: 'botcli', device_code: code, grant_type: grant } });
  /** Clears the recorded poll times, so that a device may poll again without waiting for the poll interval. */
  const forgetPolls = () => sql`update device_logins set last_polled_at = null`.execute(db);

  it('shows the requesting device, and gives it a personal access token after a person approves the login', async () => {
    const started = await start();
    expect(started).toMatchObject({ verification_uri: `${service.url}/device`, interval: 5, expires_in: 600 });
    await expect(poll(started.device_code)).rejects.toMatchObject({ message: 'authorization_pending', status: 400 });
    await expect(poll(started.device_code)).rejects.toMatchObject({ message: 'slow_down' });
    const params = { userCode: started.user_code };
    expect(await ada.client.getDeviceLogin({ params })).toMatchObject({
      deviceName: 'laptop',
      address: '127.0.0.1',
      state: 'pending',
    });
    const other = await signUpPerson(service, 'onlooker');
    await expect(other.client.decideDeviceLogin({ params, body: { approve: true } })).rejects.toMatchObject({
      reason: 'device-login-not-found',
    });
    await ada.client.decideDeviceLogin({ params, body: { approve: true } });
    await forgetPolls();
    const { access_token: key } = await poll(started.device_code);
    const cli = createApiClient({ origin: service.url, key });
    expect(await cli.getUser()).toMatchObject({ email: ada.email });
    await expect(poll(started.device_code)).rejects.toMatchObject({
      reason: 'device-code-invalid',
      message: 'invalid_grant',
    });
    await ada.client.signOutEverywhere();
    await expect(cli.getUser()).rejects.toMatchObject({ reason: 'key-invalid' });
    await ada.client.signIn({ body: { email: ada.email, password: testPassword } });
  });

  it('can be denied, and expires', async () => {
    const denied = await start();
    await ada.client.decideDeviceLogin({ params: { userCode: denied.user_code }, body: { approve: false } });
    await expect(poll(denied.device_code)).rejects.toMatchObject({ message: 'access_denied' });
    const late = await start();
    await sql`update device_logins set expires_at = now() - interval '1 second'`.execute(db);
    await expect(ada.client.getDeviceLogin({ params: { userCode: late.user_code } })).rejects.toMatchObject({
      reason: 'device-login-not-found',
    });
    await expect(poll(late.device_code)).rejects.toMatchObject({ message: 'expired_token' });
  });

  it('accepts form-encoded requests, which OAuth clients send', async () => {
    const answer = await fetch(`${service.url}/v1/auth/device/code`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: 'other' }),
    });
    expect(await answer.json()).toMatchObject({ user_code: expect.stringMatching(/^[A-Z2-9]{4}-[A-Z2-9]{4}$/) });
  });
});

describe('an authorization code', () => {
  const verifier = 'v'.repeat(64);
  const parameters = {
    response_type: 'code',
    client_id: 'pipecat-cli',
    redirect_uri: 'http://127.0.0.1:8400/oauth_callback',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'a b',
  } as const;
  const decide = async (approve: boolean) =>
    new URL((await ada.client.decideAuthorization({ body: { ...parameters, approve } })).redirectUrl);
  const createCode = async () => (await decide(true)).searchParams.get('code') ?? '';
  const exchange = (code: string, changes: Partial<Record<'code_verifier' | 'redirect_uri', string>> = {}) =>
    createApiClient({ origin: service.url }).exchangeAuthorizationCode({
      body: {
        grant_type: 'authorization_code',
        code,
        redirect_uri: parameters.redirect_uri,
        client_id: parameters.client_id,
        code_verifier: verifier,
        ...changes,
      },
    });
  const invalid = { reason: 'authorization-code-invalid', message: 'invalid_grant', status: 400 };

  it('is exchanged once for a personal token, which a logout of the client revokes', async () => {
    const url = await decide(true);
    expect([url.origin + url.pathname, url.searchParams.get('state')]).toEqual([parameters.redirect_uri, 'a b']);
    const code = url.searchParams.get('code') ?? '';
    const { access_token: key } = await exchange(code);
    const cli = createApiClient({ origin: service.url, key });
    expect(await cli.getUser()).toMatchObject({ email: ada.email });
    await expect(exchange(code)).rejects.toMatchObject(invalid);
    const logout = await fetch(`${service.url}/auth/logout`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ refresh_token: key }),
    });
    expect(logout.status).toBe(200);
    await expect(cli.getUser()).rejects.toMatchObject({ reason: 'key-invalid' });
  });

  it.each([
    ['verifier', { code_verifier: 'w'.repeat(64) }],
    ['redirect address', { redirect_uri: parameters.redirect_uri.replace('8400', '8401') }],
  ])('is refused and becomes invalid if it is sent with a wrong %s', async (_, changes) => {
    const code = await createCode();
    await expect(exchange(code, changes)).rejects.toMatchObject(invalid);
    await expect(exchange(code)).rejects.toMatchObject(invalid);
  });

  it('expires', async () => {
    const code = await createCode();
    await sql`update auth_verifications set expires_at = now() - interval '1 second'`.execute(db);
    await expect(exchange(code)).rejects.toMatchObject(invalid);
  });

  it('is not created for a denied login', async () => {
    const { searchParams } = await decide(false);
    expect([searchParams.get('error'), searchParams.get('code')]).toEqual(['access_denied', null]);
  });

  it.each(['https://evil.example/oauth_callback', 'http://127.0.0.1:8405/oauth_callback', 'http://127.0.0.1:8400/'])(
    'is not sent to the redirect address %s',
    async (address) => {
      const body = { ...parameters, redirect_uri: address, approve: true };
      await expect(ada.client.decideAuthorization({ body })).rejects.toMatchObject({ reason: 'invalid-request' });
    },
  );

  it('is not offered over plain HTTP', async () => {
    for (const path of ['/auth/config', '/.well-known/openid-configuration']) {
      expect(await (await fetch(service.url + path)).json()).toMatchObject({ reason: 'authorization-needs-tls' });
    }
  });
});

describe('the service log', () => {
  it('contains no password, token, cookie or link', async () => {
    const { client } = ada;
    const { token } = await client.createPersonalToken({ body: { name: 'logged' } });
    const script = createApiClient({ origin: service.url, key: `${token}x` });
    await expect(script.getUser()).rejects.toMatchObject({ reason: 'key-invalid' });
    const link = await invite();
    await client.describeLink({ body: { token: link } });
    const text = lines.join('');
    expect(lines.length).toBeGreaterThan(20);
    for (const secret of [
      testPassword,
      token,
      link,
      sessionOf(ada.cookie()),
      decodeURIComponent(sessionOf(ada.cookie())),
    ]) {
      expect(secret.length).toBeGreaterThan(10);
      expect(text).not.toContain(secret);
    }
  });
});

it('the service exposes none of the HTTP routes of its authentication library', async () => {
  const routes = ['/api/auth/sign-up/email', '/api/auth/get-session', '/v1/auth/sign-up/email', '/device/token'];
  for (const route of routes) {
    const answer = await fetch(service.url + route, { headers: { cookie: ada.cookie() } });
    expect([route, answer.status]).toEqual([route, 404]);
  }
});
