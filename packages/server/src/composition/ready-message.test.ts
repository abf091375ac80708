import { describe, expect, it } from 'vitest';
import { formatReadyMessage } from './ready-message.ts';

const firstStart = {
  organizationId: 'o',
  organizationName: 'home',
  privateKey: 'sk_secret',
  publicKey: 'pk_public',
  profileFile: '/home/ada/.config/botcli/config.toml',
  areKeysGiven: false,
};
const server = {
  url: 'http://127.0.0.1:7420',
  publicUrl: 'https://bots.example.com',
  isReachableOnlyHere: false,
  agents: [
    { name: 'parrot', problem: null },
    { name: '/srv/broken', problem: 'there is no deploy.toml' },
  ],
};

describe('the start message', () => {
  it('shows the new API keys and a link with the public key on a terminal at the first start of the service', () => {
    const text = formatReadyMessage({ ...server, firstStart }, true, null);
    expect(text).toContain('sk_secret');
    expect(text).toContain('http://127.0.0.1:7420/talk/parrot#key=pk_public');
    expect(text).toContain('botcli cloud agent start parrot');
    expect(text).toContain('Not deployed    there is no deploy.toml');
  });

  it('shows the path of the CLI profile instead of the API keys if the output is not a terminal', () => {
    const text = formatReadyMessage({ ...server, firstStart }, false, null);
    expect(text).not.toMatch(/sk_|pk_/);
    expect(text).toContain(firstStart.profileFile);
  });

  it('shows the one-time link for the first account, also at later starts of the service', () => {
    const link = 'http://127.0.0.1:7420/join#token';
    expect(formatReadyMessage({ ...server, firstStart: null }, true, link)).toContain(`Your account    ${link}\n`);
  });

  it('says that the URLs work on this machine only if the service listens on all addresses without a public URL', () => {
    const warning = 'its URLs work on this machine only.';
    const text = (isReachableOnlyHere: boolean) =>
      formatReadyMessage({ ...server, firstStart: null, isReachableOnlyHere }, false, null);
    expect(text(true)).toContain(warning);
    expect(text(true)).toContain('Set BOTHOST_PUBLIC_URL');
    expect(text(false)).not.toContain(warning);
  });

  it('names the command that creates an API key, at every start of the service', () => {
    for (const started of [firstStart, null]) {
      expect(formatReadyMessage({ ...server, firstStart: started }, true, null)).toContain(
        'botcli operator keys create',
      );
    }
  });

  it('shows how to install botcli from the public URL of the service, at every start of the service', () => {
    for (const started of [firstStart, null]) {
      const text = formatReadyMessage({ ...server, firstStart: started }, false, null);
      expect(text).toContain('npm install -g https://bots.example.com/botcli.tgz\n');
      expect(text).toContain('npm install --prefix ~/.local -g https://bots.example.com/botcli.tgz\n');
    }
  });

  it('shows no API keys if the operator provided them, and none at later starts of the service', () => {
    expect(
      formatReadyMessage({ ...server, firstStart: { ...firstStart, areKeysGiven: true } }, true, null),
    ).not.toMatch(/sk_|pk_|profile/);
    expect(formatReadyMessage({ ...server, firstStart: null }, true, null)).not.toMatch(/sk_|pk_|profile/);
  });
});
