import { createTalkPagePath, formatInstallCommands } from '@bothost/contract';
import type { RunningServer } from './server.ts';

/**
 * Returns the message that the service prints when it is ready. Shows keys only on a terminal, because other output may be
 * stored. `invitation` is the one-time link for the first account, or null if there are accounts.
 */
export function formatReadyMessage(
  server: Pick<RunningServer, 'url' | 'publicUrl' | 'isReachableOnlyHere' | 'agents' | 'firstStart'>,
  isTerminal: boolean,
  invitation: string | null,
): string {
  const { url, publicUrl, isReachableOnlyHere, agents, firstStart } = server;
  const generated = firstStart === null || firstStart.areKeysGiven ? null : firstStart;
  const key = generated !== null && isTerminal ? `#key=${generated.publicKey}` : '';
  const lines = [`bothost is ready at ${url}`, ''];
  if (isReachableOnlyHere) {
    lines.push(
      fact('This machine', 'The service listens on all addresses, but its URLs work on this machine only.'),
      fact('', 'Set BOTHOST_PUBLIC_URL to the URL at which other machines reach it.'),
    );
  }
  for (const { name, problem } of agents) {
    lines.push(
      problem === null
        ? fact(`Talk to ${name}`, `${url}${createTalkPagePath(name)}${key}`)
        : fact('Not deployed', problem),
    );
  }
  if (invitation !== null) lines.push(fact('Your account', invitation));
  const install = formatInstallCommands(publicUrl);
  lines.push(
    fact('API reference', `${url}/docs`),
    fact('Get botcli', install.asRoot),
    fact('  without root', install.asUser),
    fact('Lost the keys?', 'botcli operator keys create'),
  );
  if (generated !== null) {
    lines.push(
      fact('Organization', generated.organizationName),
      fact('Keys', `in botcli's profile, ${generated.profileFile}`),
    );
    if (isTerminal) {
      lines.push(
        fact('Private key', generated.privateKey),
        fact('Public key', generated.publicKey),
        fact('', 'Shown this once; botcli reads them from its profile.'),
      );
    }
    const [first] = agents.filter(({ problem }) => problem === null);
    if (first !== undefined) lines.push('', `Next, in another terminal: botcli cloud agent start ${first.name}`);
  }
  return `${lines.join('\n')}\n\n`;
}

function fact(label: string, value: string): string {
  return `  ${label.padEnd(16)}${value}`;
}
