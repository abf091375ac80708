import type { RunningServer } from './server.ts';

/**
 * What a person sees when the service is ready. Keys are shown on a terminal only, and on the first start only: elsewhere
 * the output is kept by somebody (decisions, "first start").
 */
export function greet(server: Pick<RunningServer, 'url' | 'agents' | 'firstStart'>, isTerminal: boolean): string {
  const { url, agents, firstStart } = server;
  const lines = [`bothost is ready at ${url}`];
  for (const { name, problem } of agents) {
    lines.push(problem === null ? `  agent ${name}: ${url}/talk/${name}` : `  not served: ${problem}`);
  }
  if (firstStart !== null && !firstStart.given) {
    const { organizationName, privateKey, publicKey, profileFile } = firstStart;
    lines.push(`  organization ${organizationName}, profile for botcli: ${profileFile}`);
    if (isTerminal) {
      lines.push(
        `  private key ${privateKey}`,
        `  public key  ${publicKey}`,
        '  They are shown this once. botcli reads them from its profile.',
        `Talk to the parrot: ${url}/talk/parrot#key=${publicKey}`,
      );
    }
    lines.push('Next: npx botcli cloud agent start parrot');
  }
  return `${lines.join('\n')}\n`;
}
