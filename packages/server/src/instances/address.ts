import { isIPv6 } from 'node:net';
import type { InstanceAddress } from '@bothost/runtime';

export type BotAddress = InstanceAddress;

type AddressColumns = { readonly socket: string | null; readonly host: string | null; readonly port: number | null };

/** Returns the address of an instance, or null if the instance is not ready yet. */
export function getInstanceAddress({ socket, host, port }: AddressColumns): BotAddress | null {
  if (socket !== null) return { socket };
  return host === null || port === null ? null : { host, port };
}

export function toAddressColumns(address: BotAddress): AddressColumns {
  return 'socket' in address ? { ...address, host: null, port: null } : { ...address, socket: null };
}

/** Returns the `Host` header of requests to the instance (RFC 9110, section 7.2). */
export function getAddressAuthority(address: BotAddress): string {
  if ('socket' in address) return 'localhost';
  return `${isIPv6(address.host) ? `[${address.host}]` : address.host}:${address.port}`;
}
