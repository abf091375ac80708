import { reservedResourceNames, resourceNameLengthLimits } from '@bothost/contract/limits';

const maxNameLength = 100;

/**
 * Converts a project name to the slug that names its package and agent. Drops letters that have no equivalent in a to z, so the
 * slug can be empty.
 */
export function toSlug(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss').toLowerCase();
  const words = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-+/, '');
  return words.slice(0, resourceNameLengthLimits.maximum).replace(/-+$/, '');
}

export function findNameProblem(name: string): string | null {
  if (name.trim() === '') return 'is empty';
  if (/\p{C}/u.test(name)) return 'contains a control character';
  if (name.length > maxNameLength) return `is longer than ${maxNameLength} characters`;
  const slug = toSlug(name);
  if (slug.length < resourceNameLengthLimits.minimum)
    return 'needs at least two letters (a to z) or digits, for the name of the agent';
  if (reservedResourceNames.includes(slug)) return `gives the agent the name ${slug}, which is reserved`;
  return null;
}
