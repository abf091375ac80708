/** Words that neither an agent nor an organization may be called. */
const reserved: ReadonlySet<string> = new Set(['webhooks', 'sessions', 'public', 'start']);
const longest = { name: 100, slug: 54 };

/**
 * What machines call the project: the name of its package and its agent, and of its secret set with `-secrets` behind it.
 * Letters of other scripts that do not decompose into a to z are lost, so it may come out empty.
 */
export function slugOf(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss').toLowerCase();
  const words = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-+/, '');
  return words.slice(0, longest.slug).replace(/-+$/, '');
}

/** Why a project cannot be called so, or null. */
export function refusalOfName(name: string): string | null {
  if (name.trim() === '') return 'is empty';
  if (/\p{C}/u.test(name)) return 'contains a character that cannot be shown';
  if (name.length > longest.name) return `is longer than ${longest.name} characters`;
  const slug = slugOf(name);
  if (slug.length < 2) return 'needs at least two letters or digits, a to z, for the name of the agent';
  if (reserved.has(slug)) return `gives the agent the name ${slug}, which is reserved`;
  return null;
}
