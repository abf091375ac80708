import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import { ConnectionError, type InstallationCheck } from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { withOperatorClient } from './as-operator.ts';
import { checkClock } from './check-clock.ts';
import { checkPublicUrl } from './check-public-url.ts';
import { createFailedCheck, createOkCheck } from './installation-finding.ts';
import { isLoopback } from './service-url.ts';

/**
 * Runs the checks of this machine and of the service. If the service cannot be reached, says why, and leaves out its checks.
 * Throws a `Failure` if the operator token is missing or wrong.
 */
export async function runInstallationChecks(
  context: CommandContext,
  tokenFile: string | undefined,
): Promise<InstallationCheck[]> {
  const { io, settings, messages } = context;
  const origin = new URL(settings.origin.value);
  messages.status('Checking the service');
  const before = io.now();
  let found: Awaited<ReturnType<typeof askService>>;
  try {
    found = await askService(context, tokenFile);
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    return describeUnreachable(context, origin, error);
  }
  const clock = checkClock(new Date(found.now), before, io.now());
  messages.status('Checking the public URL');
  const url = new URL(found.serviceUrl);
  const outside =
    isLoopback(url) && !isLoopback(origin)
      ? [describeWrongUrl(url, origin), ...(await checkUrl(context, origin, settings.origin.source))]
      : await checkUrl(context, url, 'BOTHOST_PUBLIC_URL');
  const service = createOkCheck('Service', `The service at ${origin.origin} accepts the operator token.`);
  return [service, ...outside, clock, ...found.checks];
}

function askService(context: CommandContext, tokenFile: string | undefined) {
  return withOperatorClient(context, tokenFile, (client) => client.checkInstallation());
}

/** Checks the URL of the command as if it was the public one, because this usually shows why it does not respond. */
async function describeUnreachable(
  context: CommandContext,
  origin: URL,
  { message }: ConnectionError,
): Promise<InstallationCheck[]> {
  const { source } = context.settings.origin;
  const checks = await checkUrl(context, origin, source);
  if (checks.some(({ state }) => state === 'failed')) return checks;
  const reason = `The service at ${origin.origin} does not respond: ${message}.`;
  return [
    createFailedCheck('Service', reason, `The URL comes from ${source}. Read the log of the service.`),
    ...checks,
  ];
}

async function checkUrl({ io }: CommandContext, url: URL, source: string): Promise<InstallationCheck[]> {
  const certificates = await readCertificates(io.environment.network?.certificateFiles ?? []);
  return checkPublicUrl(io, { url, source, certificates });
}

function describeWrongUrl(url: URL, origin: URL): InstallationCheck {
  return createFailedCheck(
    'URLs in responses',
    `The service is reached at ${origin.origin}, but clients get URLs that begin with ${url.origin}.`,
    `Set BOTHOST_PUBLIC_URL=${origin.origin}, and list the proxy in BOTHOST_TRUSTED_PROXIES.`,
  );
}

/** Returns an empty list without files, so that Node uses its own certificates and those of NODE_EXTRA_CA_CERTS. */
async function readCertificates(files: readonly string[]): Promise<readonly string[]> {
  if (files.length === 0) return [];
  return [...rootCertificates, ...(await Promise.all(files.map((file) => readFile(file, 'utf8'))))];
}
