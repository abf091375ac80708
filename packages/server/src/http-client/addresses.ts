import ipaddr from 'ipaddr.js';

/** IP addresses of the metadata services of cloud providers. The address that Azure uses is outside all private ranges. */
const metadata: ReadonlySet<string> = new Set(['169.254.169.254', '168.63.129.16', '100.100.100.200', 'fd00:ec2::254']);

/**
 * Returns whether an IP address is public: not loopback, link-local, private, shared (CGNAT), unique local, mapped, translated
 * (NAT64), tunneled, multicast, reserved or the address of a metadata service.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text) || isMetadataAddress(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  // Accept only IPv6 addresses in 2000::/3, the allocated part of global unicast (RFC 4291, section 2.4).
  return address.kind() === 'ipv4' || address.match(ipaddr.parse('2000::'), 3);
}

/**
 * Whether an IP address is link-local or belongs to a cloud's metadata service. The service never connects to such an address,
 * even if the operator listed the host name: an attacker who controls the DNS could point the name at the metadata service.
 */
export function isMetadataAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  return address.range() === 'linkLocal' || metadata.has(address.toString());
}
