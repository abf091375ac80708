import type { RunningServer } from './server.ts';

/**
 * The message that is printed when the service is ready. Shows keys only on a terminal and only on the first start,
 * because output that is not a terminal may be stored.
 */
export function greet(server: Pick<RunningServer, 'url' | 'agents' | 'firstStart'>, isTerminal: boolean): string {
  const { url, agents, firstStart } = server;
  const made = firstStart === null || firstStart.given ? null : firstStart;
  const key = made !== null && isTerminal ? `#key=${made.publicKey}` : '';
  const lines = [`bothost is ready at ${url}`, ''];
  for (const { name, problem } of agents) {
    lines.push(problem === null ? fact(`Talk to ${name}`, `${url}/talk/${name}${key}`) : fact('Not deployed', problem));
  }
  lines.push(fact('API reference', `${url}/docs`), fact('Lost the keys?', 'npx botcli operator keys create'));
  if (made !== null) {
    lines.push(fact('Organization', made.organizationName), fact('Keys', `in botcli's profile, ${made.profileFile}`));
    if (isTerminal) {
      lines.push(
        fact('Private key', made.privateKey),
        fact('Public key', made.publicKey),
        fact('', 'Shown this once; botcli reads them from its profile.'),
      );
    }
    const [first] = agents.filter(({ problem }) => problem === null);
    if (first !== undefined) lines.push('', `Next, in another terminal: npx botcli cloud agent start ${first.name}`);
  }
  return `${lines.join('\n')}\n\n`;
}

function fact(label: string, value: string): string {
  return `  ${label.padEnd(16)}${value}`;
}
