import { defineCommand } from '../../command-line/command.ts';
import { Failure } from '../../failure.ts';
import { operatorOptions } from '../../operator/as-operator.ts';

export const command = defineCommand({
  summary: 'Check the installation of a service',
  details:
    'Checks the public URL, TLS, WebSocket upgrades and uploads through the proxy, and the clock from this machine, and lets the ' +
    'service check its database, disk, secrets, runtime and ICE servers. Each line has a state, a reason and a next step. Nothing ' +
    "is changed. Exit status 1 if a check failed; warnings do not count. Run it on the service's machine, and on another one to " +
    'see what clients see: with --api-url and the operator token.',
  options: operatorOptions,
  examples: [
    'operator doctor',
    'operator doctor --json',
    'operator doctor --api-url https://bots.example.com --token-file token',
  ],
  run: async (context, { 'token-file': tokenFile }) => {
    const { runInstallationChecks } = await import('../../operator/run-installation-checks.ts');
    const { createChecksBlock } = await import('../../operator/installation-report.ts');
    const checks = await runInstallationChecks(context, tokenFile);
    const failures = checks.filter(({ state }) => state === 'failed');
    const block = createChecksBlock(checks);
    if (failures.length === 0) return { json: { checks }, blocks: [block] };
    if (context.mode !== 'json') await context.messages.show(block);
    throw new Failure(
      'installation-unfit',
      failures.length === 1 ? 'One check failed.' : `${failures.length} checks failed.`,
      null,
      { details: { checks } },
    );
  },
});
