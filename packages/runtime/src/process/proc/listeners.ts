import { readdirSync, readlinkSync } from 'node:fs';
import { readProcFile } from './read-proc-file.ts';

/** A TCP socket on which this machine listens, as listed by `/proc/net/tcp` and `/proc/net/tcp6` (proc_pid_net(5)). */
export type Listener = {
  readonly port: number;
  readonly address: string;
  /** The address at which processes of this machine can connect to the socket. */
  readonly host: string;
  readonly loopbackOnly: boolean;
  readonly inode: string;
  readonly user: number;
};

export function readListeners(): readonly Listener[] {
  return ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) =>
    parseListeners(readProcFile(path, isPastListeners) ?? ''),
  );
}

/** Whether the text has all listening sockets. The kernel lists these first; the connections after them are not needed. */
function isPastListeners(_: number, text: string): boolean {
  const last = text.slice(text.lastIndexOf('\n', text.length - 2) + 1);
  return last.trim().split(/\s+/)[3] !== listenState;
}

const listenState = '0A';

export function parseListeners(text: string): readonly Listener[] {
  const listeners: Listener[] = [];
  for (const line of text.split('\n')) {
    const fields = line.trim().split(/\s+/);
    const [, local = '', , state, , , , user = '', , inode] = fields;
    const [address = '', port = ''] = local.split(':');
    if (state !== listenState || inode === undefined) continue;
    listeners.push({ port: Number.parseInt(port, 16), inode, user: Number(user), ...describeAddress(address) });
  }
  return listeners;
}

const v4Mapped = '0000000000000000FFFF0000';

/** Addresses are 32-bit words in the machine's byte order, which is little-endian on all platforms of Node 20 that we support. */
function describeAddress(hex: string): Pick<Listener, 'address' | 'host' | 'loopbackOnly'> {
  if (hex.length === 8) return describeV4(hex);
  if (hex.startsWith(v4Mapped)) return describeV4(hex.slice(v4Mapped.length));
  const bytes = hex.match(/.{8}/g)?.map(reverseBytes).join('') ?? '';
  if (/^0{31}1$/.test(bytes)) return { address: '::1', host: '::1', loopbackOnly: true };
  // A socket bound to all IPv6 addresses normally accepts IPv4 too.
  if (/^0*$/.test(bytes)) return { address: '::', host: '127.0.0.1', loopbackOnly: false };
  const address = bytes.match(/.{4}/g)?.join(':').toLowerCase() ?? '';
  return { address, host: address, loopbackOnly: false };
}

function describeV4(hex: string): Pick<Listener, 'address' | 'host' | 'loopbackOnly'> {
  const octets = reverseBytes(hex)
    .match(/../g)
    ?.map((octet) => Number.parseInt(octet, 16));
  const address = octets?.join('.') ?? '';
  if (address === '0.0.0.0') return { address, host: '127.0.0.1', loopbackOnly: false };
  return { address, host: address, loopbackOnly: octets?.[0] === 127 };
}

function reverseBytes(hex: string): string {
  return hex.match(/../g)?.reverse().join('') ?? '';
}

/**
 * Returns the listeners that any of the processes owns. In a container, the service may not read the descriptors of other users'
 * processes (CAP_SYS_PTRACE). The service then compares user ids instead: each bot has its own user id, and a listener has the
 * user id of its process.
 */
export function filterListenersByProcess(pids: readonly number[], listeners: readonly Listener[]): readonly Listener[] {
  if (listeners.length === 0) return [];
  return [...new Set(pids.flatMap((pid) => listenersOfProcess(pid, listeners)))];
}

function listenersOfProcess(pid: number, listeners: readonly Listener[]): readonly Listener[] {
  const directory = `/proc/${pid}/fd`;
  try {
    const links = readdirSync(directory).map((name) => readLink(`${directory}/${name}`));
    return listeners.filter(({ inode }) => links.includes(`socket:[${inode}]`));
  } catch (error) {
    const isHidden = error instanceof Error && 'code' in error && error.code === 'EACCES';
    const user = isHidden ? readUserId(pid) : null;
    return user === process.geteuid?.() ? [] : listeners.filter((listener) => listener.user === user);
  }
}

/** Reads the link of a descriptor. Empty if it was closed meanwhile. Throws EACCES if the service may not read it. */
function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EACCES') throw error;
    return '';
  }
}

function readUserId(pid: number): number | null {
  const user = /^Uid:\t\d+\t(\d+)/m.exec(readProcFile(`/proc/${pid}/status`) ?? '')?.[1];
  return user === undefined ? null : Number(user);
}
