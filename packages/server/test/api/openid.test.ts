import { afterAll, expect, it } from 'vitest';
import { startOpenIdProvider } from '../support/openid-provider.ts';
import { createFakeBrowser, signUpPerson } from '../support/people.ts';
import { startTestServer } from '../support/test-server.ts';
import { useTestServer } from '../support/use-test-server.ts';

const client = { id: 'bothost', secret: 'the secret of the client' };
const claims = { sub: 'ada-at-provider', email: 'ada@example.com', email_verified: true, name: 'Ada' };

const provider = await startOpenIdProvider(client);
const service = await useTestServer({
  environment: {
    BOTHOST_OPENID_ISSUER: provider.issuer,
    BOTHOST_OPENID_CLIENT_ID: client.id,
    BOTHOST_OPENID_CLIENT_SECRET: client.secret,
    BOTHOST_OPENID_NAME: 'Example',
    BOTHOST_OPENID_EMAIL_DOMAINS: 'example.com',
  },
});
afterAll(async () => {
  provider.close();
});

it('a person signs in with OpenID Connect, which creates one account without organizations', async () => {
  const browser = createFakeBrowser(service.url);
  expect(await browser.client.getSignInMethods()).toEqual({ password: true, openId: { name: 'Example' } });
  const { url } = await browser.client.startOpenIdSignIn();
  expect(new URL(url).searchParams.get('redirect_uri')).toBe(`${service.url}/sign-in/openid`);
  const user = await browser.client.finishOpenIdSignIn({ body: provider.signIn(url, claims) });
  expect(user).toMatchObject({ email: claims.email, name: 'Ada', hasPassword: false, organizations: [] });
  expect(await browser.client.getUser()).toEqual(user);
  await browser.client.createOrganization({ body: { name: 'founded' } });

  const again = createFakeBrowser(service.url);
  const next = await again.client.startOpenIdSignIn();
  expect(await again.client.finishOpenIdSignIn({ body: provider.signIn(next.url, claims) })).toMatchObject({
    id: user.id,
    organizations: [{ name: 'founded', role: 'owner' }],
  });
});

it('a response from the OpenID provider is refused in a different browser and on its second use', async () => {
  const browser = createFakeBrowser(service.url);
  const { url } = await browser.client.startOpenIdSignIn();
  const body = provider.signIn(url, { ...claims, sub: 'victim', email: 'victim@example.com' });
  const other = createFakeBrowser(service.url);
  await expect(other.client.finishOpenIdSignIn({ body })).rejects.toMatchObject({ reason: 'openid-failed' });
  expect(other.cookie()).not.toContain('session_token');
  await browser.client.finishOpenIdSignIn({ body });
  await expect(browser.client.finishOpenIdSignIn({ body })).rejects.toMatchObject({ reason: 'openid-failed' });
});

it.each([
  ['an address of another domain', { email: 'eve@example.org' }],
  ['an address that is not verified', { email: 'eve@example.com', email_verified: false }],
])('sign-in is refused for an OpenID provider account with %s', async (_, fields) => {
  const { client } = createFakeBrowser(service.url);
  const { url } = await client.startOpenIdSignIn();
  const body = provider.signIn(url, { ...claims, sub: 'eve', ...fields });
  await expect(client.finishOpenIdSignIn({ body })).rejects.toMatchObject({ reason: 'openid-failed' });
  await expect(client.getUser()).rejects.toMatchObject({ status: 401 });
});

it('an OpenID provider account cannot sign in to a password account with the same e-mail address', async () => {
  const person = await signUpPerson(service, 'grace');
  const { client } = createFakeBrowser(service.url);
  const { url } = await client.startOpenIdSignIn();
  const body = provider.signIn(url, { ...claims, sub: 'grace-at-provider', email: person.email });
  await expect(client.finishOpenIdSignIn({ body })).rejects.toMatchObject({ reason: 'email-taken' });
});

it('OpenID Connect sign-in is unavailable if no provider is configured or the provider cannot be reached', async () => {
  const unreachable = await startTestServer({
    environment: {
      BOTHOST_OPENID_ISSUER: 'http://127.0.0.1:9',
      BOTHOST_OPENID_CLIENT_ID: client.id,
      BOTHOST_OPENID_CLIENT_SECRET: client.secret,
    },
  });
  const without = await startTestServer();
  for (const { url } of [unreachable, without]) {
    await expect(createFakeBrowser(url).client.startOpenIdSignIn()).rejects.toMatchObject({
      reason: 'openid-unavailable',
    });
  }
  const person = await signUpPerson(unreachable, 'password');
  await person.client.getUser();
  await Promise.all([unreachable.close(), without.close()]);
});

it('a server with a partial OpenID Connect configuration refuses to start', async () => {
  const environment = { BOTHOST_OPENID_ISSUER: provider.issuer };
  await expect(startTestServer({ environment })).rejects.toThrow('Set all three or none');
});
