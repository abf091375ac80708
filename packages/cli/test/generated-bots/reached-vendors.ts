import type { StandInVendors } from '../stand-in-vendors/stand-in-vendors.ts';
import { placeholderSecret } from './generated-project.ts';

/** Returns the sorted names of vendors that received requests with the project's keys. */
export function listReachedVendors({ visits }: StandInVendors): readonly string[] {
  const withKey = visits.filter(({ key }) => key === placeholderSecret).map(({ vendor }) => vendor);
  return [...new Set(withKey)].sort();
}
