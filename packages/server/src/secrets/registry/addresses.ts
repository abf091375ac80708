import ipaddr from 'ipaddr.js';

/** Metadata services of clouds; some are outside all private ranges (Azure's). */
const metadata: ReadonlySet<string> = new Set(['169.254.169.254', '168.63.129.16', '100.100.100.200', 'fd00:ec2::254']);

/**
 * Whether an address is public: not loopback, link-local, private, shared (CGNAT), unique local, mapped, translated (NAT64),
 * tunneled, multicast, reserved or that of a metadata service.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text) || isMetadata(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  // For IPv6 only global unicast (RFC 4291, section 2.4); the rest is unassigned or was site-local.
  return address.kind() === 'ipv4' || address.match(ipaddr.parse('2000::'), 3);
}

/** Refused even for listed names: an attacker who controls the DNS of a name could point it at the cloud metadata service. */
export function isMetadata(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  return address.range() === 'linkLocal' || metadata.has(address.toString());
}
