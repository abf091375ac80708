import { hkdfSync } from 'node:crypto';
import { conceal } from './conceal.ts';
import { DamagedError } from './damaged.ts';
import { encode, milliseconds } from './encode.ts';
import { seal, sealOverhead, unseal } from './seal.ts';

/** A key of an organization, by its version. */
export type VersionedKey = { readonly version: number; readonly key: Buffer };

/** Where a value belongs, and all that its row says of it: the value opens nowhere else, and with nothing else. */
export type ValuePlace = {
  readonly organizationId: string;
  readonly region: string;
  readonly setId: string;
  readonly kind: 'secret' | 'imagePullSecret';
  readonly key: string;
  /** Of the set, in which this value was written. */
  readonly revision: number;
  readonly fingerprint: Buffer;
  readonly fingerprintVersion: number;
  readonly bytes: number;
  readonly createdAt: Date;
};

const format = 1;
const algorithm = 1;
const saltLength = 32;
const headLength = 6;

/**
 * A value as it is stored: format, algorithm, version of the organization's key, salt, then what is sealed under a key that
 * is derived for this one value.
 */
export function sealValue(
  organizationKey: VersionedKey,
  place: ValuePlace,
  value: Buffer,
  random: (bytes: number) => Buffer,
): Buffer {
  const head = Buffer.alloc(headLength);
  head.writeUInt8(format, 0);
  head.writeUInt8(algorithm, 1);
  head.writeUInt32BE(organizationKey.version, 2);
  const salt = random(saltLength);
  const key = valueKey(organizationKey.key, salt);
  const sealed = seal(key, placeBytes(place, head), value, random);
  key.fill(0);
  return Buffer.concat([head, salt, sealed]);
}

/** The version of the organization's key that a stored value needs. @throws DamagedError */
export function keyVersionOf(stored: Buffer): number {
  if (stored.length < headLength + saltLength + sealOverhead) throw new DamagedError('the value is too short');
  if (stored.readUInt8(0) !== format) throw new DamagedError('the value has an unknown format');
  if (stored.readUInt8(1) !== algorithm) throw new DamagedError('the value has an unknown algorithm');
  return stored.readUInt32BE(2);
}

/** @throws DamagedError */
export function openValue(organizationKey: VersionedKey, place: ValuePlace, stored: Buffer): Buffer {
  if (keyVersionOf(stored) !== organizationKey.version) throw new DamagedError('the value needs another key');
  const head = stored.subarray(0, headLength);
  const key = valueKey(organizationKey.key, stored.subarray(headLength, headLength + saltLength));
  try {
    const value = unseal(key, placeBytes(place, head), stored.subarray(headLength + saltLength));
    if (value.length !== place.bytes) throw new DamagedError('the value has another length');
    return conceal(value);
  } finally {
    key.fill(0);
  }
}

function valueKey(organizationKey: Buffer, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', organizationKey, salt, 'bothost secret value', 32));
}

function placeBytes(place: ValuePlace, head: Buffer): Buffer {
  return encode([
    'bothost secret value',
    head,
    place.organizationId,
    place.region,
    place.setId,
    place.kind,
    place.key,
    place.revision,
    place.fingerprint,
    place.fingerprintVersion,
    place.bytes,
    milliseconds(place.createdAt),
  ]);
}
