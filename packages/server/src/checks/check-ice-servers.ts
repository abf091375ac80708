import { type IceServer, type InstallationCheck, parseIceUrl } from '@bothost/contract';
import ipaddr from 'ipaddr.js';
import { type Finding, failed, ok, warning } from './finding.ts';
import type { InstallationSettings } from './installation.ts';
import { SilentServerError } from './stun-connection.ts';
import { probeStun, probeTurn, type Relay, type TurnProbeResult } from './turn-probe.ts';

const manual = 'See docs/media.md.';

/** Connects to every ICE server, with the credentials of a session, as a bot on this machine does. */
export async function checkIceServers(
  iceServers: readonly IceServer[],
  { driver, hasInternalUrl }: Pick<InstallationSettings, 'driver' | 'hasInternalUrl'>,
): Promise<InstallationCheck[]> {
  if (iceServers.length === 0) return [{ subject: 'ICE servers', ...findingWithoutServers(driver) }];
  const checks = await Promise.all(
    iceServers.flatMap((server) =>
      server.urls.map(async (url) => ({ subject: `ICE server ${url}`, ...(await checkIceServer(url, server)) })),
    ),
  );
  if (hasInternalUrl) return checks;
  const unreachable = warning(
    'Bots in containers do not know a URL of the service. Images that read ICE_CONFIG_URL get no ICE servers.',
    `Set BOTHOST_INTERNAL_URL to a URL that containers reach. ${manual}`,
  );
  return [...checks, { subject: 'ICE servers', ...unreachable }];
}

function findingWithoutServers({ traits }: InstallationSettings['driver']): Finding {
  return traits.reachesLoopback
    ? warning(
        "No ICE server is set. WebRTC works only for clients that reach the bots' UDP ports.",
        `If clients are in other networks, set BOTHOST_ICE_SERVERS. ${manual}`,
      )
    : warning(
        'No ICE server is set. WebRTC works only for clients in the network of the containers.',
        `Set BOTHOST_ICE_SERVERS to a TURN server. ${manual}`,
      );
}

async function checkIceServer(text: string, server: IceServer): Promise<Finding> {
  const url = parseIceUrl(text);
  if (url === null) return failed('This is not the URL of an ICE server.', `Correct BOTHOST_ICE_SERVERS. ${manual}`);
  try {
    if (url.scheme.startsWith('turn')) return describeTurn(await probeTurn(url, server));
    const address = await probeStun(url);
    return address === null
      ? failed('The server responds, but not with an address.', 'Check that it is a STUN server.')
      : ok(`The server sees this machine as ${address}.`);
  } catch (error) {
    return describeConnectionError(error, url.host, url.port, url.transport);
  }
}

function describeTurn(result: TurnProbeResult): Finding {
  switch (result.kind) {
    case 'relay':
      return describeRelay(result);
    case 'open':
      return failed(
        'The server relays for everybody, without credentials.',
        `Set use-auth-secret and static-auth-secret in turnserver.conf. ${manual}`,
      );
    case 'credentials-refused':
      return failed(
        'The server does not accept the credentials.',
        'Set BOTHOST_TURN_SECRET to the static-auth-secret of the server, or correct username and credential in ' +
          'BOTHOST_ICE_SERVERS, and compare the clocks of both machines.',
      );
    case 'refused': {
      const { code, phrase } = result;
      return failed(`The server refuses to relay: ${code} ${phrase}`.trimEnd(), `Check its configuration. ${manual}`);
    }
  }
}

function describeRelay({ relayedAddress, ownAddress, relaysToBots, openAddress }: Relay): Finding {
  if (!relaysToBots)
    return failed(
      `The server relays neither to the bots' address ${ownAddress} nor to its own address ${relayedAddress}.`,
      `Add allowed-peer-ip=${ownAddress} to turnserver.conf. ${manual}`,
    );
  if (openAddress !== null)
    return failed(
      `The server relays to the private address ${openAddress}, so clients can send packets into its network.`,
      `Add the denied-peer-ip lines of docs/media.md to turnserver.conf.`,
    );
  if (isPrivate(relayedAddress) && !isPrivate(ownAddress))
    return failed(
      `The server relays at the private address ${relayedAddress}, which clients do not reach.`,
      `Set external-ip in turnserver.conf to the public address of the server. ${manual}`,
    );
  return ok(`The server accepts the credentials, and relays at ${relayedAddress}.`);
}

function isPrivate(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.parse(address).range() !== 'unicast';
}

function describeConnectionError(error: unknown, host: string, port: number, transport: string): Finding {
  const at = `${host}, port ${port} (${transport.toUpperCase()})`;
  if (error instanceof SilentServerError)
    return failed(`No response from ${at}.`, 'Check that the server runs, and that firewalls let the port through.');
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return failed(`The name ${host} has no address.`, 'Correct the name in BOTHOST_ICE_SERVERS, or its DNS record.');
  if (code === 'ECONNREFUSED')
    return failed(`No program listens at ${at}.`, 'Start the server, or correct the port in BOTHOST_ICE_SERVERS.');
  if (/^E[A-Z]+$/.test(code))
    return failed(`The connection to ${at} failed: ${code}.`, 'Check the network between both machines.');
  return failed(
    `The TLS connection to ${at} failed: ${code || 'unknown error'}.`,
    'Renew the certificate of the server, or use one that this machine trusts.',
  );
}
