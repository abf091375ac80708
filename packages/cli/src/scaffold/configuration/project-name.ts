/** Slugs that cannot name an agent or an organization, because paths of the API use these words. */
const reserved: ReadonlySet<string> = new Set(['webhooks', 'sessions', 'public', 'start']);
const maxLength = { name: 100, slug: 54 };

/**
 * The name of the package and of the agent; with `-secrets` appended, of the secret set. Letters that do not decompose into a
 * to z are dropped, so the slug can be empty.
 */
export function slugOf(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss').toLowerCase();
  const words = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-+/, '');
  return words.slice(0, maxLength.slug).replace(/-+$/, '');
}

/** Why a project cannot have this name, or null. */
export function nameProblem(name: string): string | null {
  if (name.trim() === '') return 'is empty';
  if (/\p{C}/u.test(name)) return 'contains a control character';
  if (name.length > maxLength.name) return `is longer than ${maxLength.name} characters`;
  const slug = slugOf(name);
  if (slug.length < 2) return 'needs at least two letters (a to z) or digits, for the name of the agent';
  if (reserved.has(slug)) return `gives the agent the name ${slug}, which is reserved`;
  return null;
}
