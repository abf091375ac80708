import type { StandIns } from '../stand-in-vendors/stand-in-vendors.ts';
import { placeholder } from './generated-project.ts';

/** The vendors that received requests with the project's keys, sorted. */
export function reached({ visits }: StandIns): readonly string[] {
  const withKey = visits.filter(({ key }) => key === placeholder).map(({ vendor }) => vendor);
  return [...new Set(withKey)].sort();
}
