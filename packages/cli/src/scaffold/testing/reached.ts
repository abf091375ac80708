import { placeholder } from './generated-project.ts';
import type { StandIns } from './stand-ins/stand-ins.ts';

/** The vendors that were reached with a key of the project's `.env`, each once, sorted. */
export function reached({ visits }: StandIns): readonly string[] {
  const withKey = visits.filter(({ key }) => key === placeholder).map(({ vendor }) => vendor);
  return [...new Set(withKey)].sort();
}
