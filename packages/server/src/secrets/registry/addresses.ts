import ipaddr from 'ipaddr.js';

/** Answer questions about the machine that asks; some lie outside of all private ranges (Azure's). */
const metadata: ReadonlySet<string> = new Set(['169.254.169.254', '168.63.129.16', '100.100.100.200', 'fd00:ec2::254']);

/**
 * Whether an address belongs to the internet at large: no loopback, link-local, private, shared (CGNAT), unique local,
 * mapped, translated (NAT64), tunnelled, multicast or reserved one, and none that answers a machine about itself.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text) || isMetadata(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  // Of version 6 only what is given out as global unicast (RFC 4291 2.4); the rest is unassigned, or was site-local.
  return address.kind() === 'ipv4' || address.match(ipaddr.parse('2000::'), 3);
}

/** Addresses that not even a listed name may lead to: whoever answers for the name would reach the machine itself. */
export function isMetadata(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  return address.range() === 'linkLocal' || metadata.has(address.toString());
}
