import type { Browser, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { BuiltService } from '../../../test/built-service.ts';
import { createInvitationLink } from './support/accounts.ts';
import { browserTest } from './support/browser.ts';
import { setUpDashboard } from './support/dashboard.ts';
import { checkLayoutAndAccessibility, openPage } from './support/inspected-page.ts';
import { insertFailedDeployments } from './support/many-rows.ts';

/** Tests what all pages have in common, in a real browser with the built service: requests, long lists, and forms. */
let service: BuiltService;
let browser: Browser;
let page: Page;
setUpDashboard((dashboard) => {
  ({ service, browser, page } = dashboard);
});

/** Requests of a page below `/v1/organizations/home/`, in addition to the request for the signed-in person. */
const pageRequests = {
  '/orgs/home': ['overview', 'statistics', 'problems', 'sessions', 'agents'],
  '/orgs/home/agents': ['agents'],
  '/orgs/home/agents/parrot': ['agents/parrot', 'statistics', 'problems'],
  '/orgs/home/agents/parrot/sessions': ['agents/parrot', 'sessions'],
  '/orgs/home/agents/parrot/logs': ['agents/parrot', 'agents/parrot/logs', 'logs/histogram'],
  '/orgs/home/agents/parrot/deployments': ['agents/parrot', 'agents/parrot/deployments', 'statistics'],
  '/orgs/home/agents/parrot/settings': ['agents/parrot', 'secrets'],
  '/orgs/home/deploy': ['agents', 'properties', 'regions', 'secrets'],
  '/orgs/home/secrets': ['secrets'],
  '/orgs/home/secrets/keys': ['secrets/keys', 'secrets/keys/history'],
  '/orgs/home/sessions?agent=parrot': ['agents', 'sessions'],
  '/orgs/home/logs': ['agents', 'logs', 'logs/histogram'],
  '/orgs/home/logs?agent=parrot': ['agents', 'agents/parrot/logs', 'logs/histogram'],
  '/orgs/home/talk/parrot': ['agents', 'agents/parrot'],
  '/orgs/home/settings/general': ['regions', 'properties', 'rooms', 'phone'],
  '/orgs/home/settings/members': ['members'],
  '/orgs/home/settings/alerts': ['agents', 'alerts'],
};

browserTest('a page starts all its requests before the first response arrives', async () => {
  for (const [path, requests] of Object.entries(pageRequests)) {
    const started = new Set<string>();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/v1/**', async (route) => {
      started.add(new URL(route.request().url()).pathname.replace('/v1/organizations/home/', ''));
      await released;
      await route.continue();
    });
    await page.goto(service.origin + path);
    const expected = expect.arrayContaining(['/v1/user', ...requests]);
    await expect
      .poll(() => [...started], { message: path })
      .toEqual(expected)
      .finally(release);
    await page.unrouteAll({ behavior: 'wait' });
  }
});

browserTest(
  'lists show 50 rows, and more on request, whether the service returns them in pages or at once',
  async () => {
    for (let number = 1; number <= 60; number += 1) {
      await page.request.post(`${service.origin}/v1/organizations/home/keys`, {
        data: { name: `key ${number}`, kind: 'public' },
        headers: { origin: service.origin, 'sec-fetch-site': 'same-origin' },
      });
    }
    await insertFailedDeployments(service, 60);
    for (const [path, list] of [
      ['settings/keys?kind=public', 'Active public keys'],
      ['settings/audit?action=keys.create', 'Audit log'],
      ['agents/parrot/deployments', 'Deployments'],
    ]) {
      await page.goto(`${service.origin}/orgs/home/${path}`);
      const rows = page.locator(`ul[aria-label="${list}"] > li`);
      await expect.poll(() => rows.count(), { message: String(list) }).toBe(50);
      await page.getByRole('button', { name: 'Show more' }).click();
      await expect.poll(() => rows.count(), { message: String(list) }).toBeGreaterThan(60);
      await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' });
    }
    await checkLayoutAndAccessibility(page, 'list-long');
  },
);

type FormCase = {
  /** The address of the page, or a one-time link for a signed-out person. */
  readonly open: string | (() => Promise<string>);
  /** The button that opens the form in a dialog. */
  readonly opener?: string;
  readonly values: Readonly<Record<string, string>>;
  readonly submit: string;
  /** The fields by label, each with its path in the request. */
  readonly fields: Readonly<Record<string, string>>;
};
const password = 'two parrots on a shoulder';
const forms: readonly FormCase[] = [
  { open: '/orgs', values: { Name: 'nest' }, submit: 'Create organization', fields: { Name: 'body.name' } },
  {
    open: '/orgs/home/settings/general',
    values: { 'Display name': 'Nest' },
    submit: 'Save',
    fields: {
      'Display name': 'body.verboseName',
      Name: 'body.name',
      'Sessions of viewers': 'body.viewersCanStartSessions',
    },
  },
  {
    open: '/orgs/home/settings/general',
    opener: 'Connect Daily',
    values: { 'API key': password },
    submit: 'Connect',
    fields: { 'API key': 'body.apiKey', 'Secret for calls (optional)': 'body.dialinSecret' },
  },
  {
    open: '/orgs/home/settings/general',
    opener: 'Connect Twilio',
    values: { 'Auth token': password },
    submit: 'Connect',
    fields: { 'Auth token': 'body.credential' },
  },
  { open: '/settings/account', values: { Name: 'Grace' }, submit: 'Save', fields: { Name: 'body.name' } },
  {
    open: '/settings/account',
    values: { 'E-mail': 'grace@example.com', 'Current password, to confirm': password },
    submit: 'Change e-mail',
    fields: { 'E-mail': 'body.email', 'Current password, to confirm': 'body.password' },
  },
  {
    open: '/settings/account',
    values: { 'Current password': password, 'New password': password },
    submit: 'Change password',
    fields: { 'Current password': 'body.currentPassword', 'New password': 'body.newPassword' },
  },
  {
    open: '/orgs/home/settings/keys',
    opener: 'Create key',
    values: { Name: 'Server' },
    submit: 'Create private key',
    fields: { Name: 'body.name', Expiration: 'body.expiresInSeconds' },
  },
  {
    open: '/settings/tokens',
    opener: 'Create token',
    values: { Name: 'Laptop' },
    submit: 'Create personal token',
    fields: { Name: 'body.name', Expiration: 'body.expiresInSeconds' },
  },
  {
    open: '/orgs/home/settings/members',
    opener: 'Invite',
    values: {},
    submit: 'Create link',
    fields: { 'E-mail (optional)': 'body.email', Role: 'body.role' },
  },
  {
    open: '/orgs/home/settings/webhooks',
    opener: 'Create webhook',
    values: { URL: 'https://example.com/hooks' },
    submit: 'Create',
    fields: { URL: 'body.url', 'Description (optional)': 'body.description' },
  },
  {
    open: '/orgs/home/settings/alerts',
    opener: 'Create alert',
    values: {},
    submit: 'Create',
    fields: {
      'What to watch': 'body.kind',
      'Threshold, in sessions': 'body.threshold',
      'Within how many minutes': 'body.windowMinutes',
    },
  },
  {
    open: '/orgs/home/secrets',
    opener: 'Create set',
    values: { 'Name of the set': 'keys', Key: 'NAME', Value: 'Polly' },
    submit: 'Store',
    fields: {
      'Name of the set': 'params.setName',
      Key: 'body.secrets.0.secretKey',
      Value: 'body.secrets.0.secretValue',
    },
  },
  {
    open: '/orgs/home/secrets',
    opener: 'Create pull secret',
    values: { Name: 'hub', Registry: 'example.com', 'User name': 'ada', 'Password or token': password },
    submit: 'Store',
    fields: { Name: 'params.setName', Registry: 'body.host', 'Password or token': 'body.secretValue' },
  },
  {
    open: '/orgs/home/agents/parrot/settings',
    values: { 'Minimum of instances': '1' },
    submit: 'Save',
    fields: {
      'Minimum of instances': 'body.autoScaling.minAgents',
      'Maximum of instances': 'body.autoScaling.maxAgents',
      Profile: 'body.agentProfile',
      'Maximum session duration, in seconds': 'body.maxSessionDuration',
      'Secret set': 'body.secretSet',
      Conversations: 'body.conversation.level',
    },
  },
  {
    open: async () => `${service.origin}/sign-in`,
    values: { 'E-mail': 'ada@example.com', Password: password },
    submit: 'Sign in',
    fields: { 'E-mail': 'body.email', Password: 'body.password' },
  },
  {
    open: () => createInvitationLink(service),
    values: { Name: 'Grace', 'E-mail': 'grace@example.com', Password: password },
    submit: 'Create account',
    fields: { Name: 'body.name', 'E-mail': 'body.email', Password: 'body.password' },
  },
  {
    open: () => createInvitationLink(service, '--reset', 'ada@example.com'),
    values: { Password: password },
    submit: 'Set the password and sign in',
    fields: { Password: 'body.password' },
  },
];

/** Finds a field by its label. Sections can have the same label. */
function findField(shown: Page, label: string): Locator {
  return shown.getByLabel(label, { exact: true }).and(shown.locator('input, select, textarea'));
}

/** Refuses all writes of a page, and says about each field that it is not valid. */
async function refuseWrites(refusing: Page, { fields }: FormCase): Promise<void> {
  const issues = Object.entries(fields).map(([label, path]) => ({ path, message: `not a valid value of ${label}` }));
  const body = { error: 'The request is not valid.', code: '400', reason: 'invalid-request', issues };
  const isRead = (url: string) => url.endsWith('/auth/links');
  await refusing.route('**/v1/**', (route) =>
    route.request().method() === 'GET' || isRead(route.request().url())
      ? route.continue()
      : route.fulfill({ status: 400, json: body }),
  );
}

browserTest('every form shows what the service says about a field at the field', async () => {
  for (const form of forms) {
    const isSignedOut = typeof form.open !== 'string';
    const shown = isSignedOut ? (await openPage(service, await browser.newContext(), 'about:blank')).page : page;
    await shown.goto(typeof form.open === 'string' ? service.origin + form.open : await form.open());
    await refuseWrites(shown, form);
    if (form.opener !== undefined) await shown.getByRole('button', { name: form.opener }).click();
    for (const [label, value] of Object.entries(form.values)) await findField(shown, label).fill(value);
    await shown.getByRole('button', { name: form.submit, exact: true }).first().click();
    for (const label of Object.keys(form.fields)) {
      const field = findField(shown, label);
      const description = () => field.evaluate((input) => input.getAttribute('aria-describedby') ?? '');
      await expect.poll(() => field.getAttribute('aria-invalid'), { message: `${form.submit}: ${label}` }).toBe('true');
      expect(await shown.locator(`[id="${await description()}"]`).textContent()).toBe(`not a valid value of ${label}`);
    }
    // The alerts are those of the fields.
    expect(await shown.getByRole('alert').count(), form.submit).toBe(Object.keys(form.fields).length);
    if (form.submit === 'Create organization') await checkLayoutAndAccessibility(shown, 'form-refused');
    if (isSignedOut) await shown.context().close();
    else await shown.unrouteAll({ behavior: 'wait' });
  }
});

browserTest('a form shows the refusal of the service at the field, and accepts a valid value afterwards', async () => {
  await page.goto(`${service.origin}/orgs`);
  const name = findField(page, 'Name');
  await name.fill('Second Nest');
  await page.getByRole('button', { name: 'Create organization' }).click();
  await page.getByRole('alert').getByText('use lower-case letters, digits and hyphens').waitFor();
  await name.fill('second-nest');
  await page.getByRole('button', { name: 'Create organization' }).click();
  await page.waitForURL(`${service.origin}/orgs/second-nest`);
});
