import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** The commands in the section "In a container" of docs/operations/install.md, in order. */
export async function readDocumentedContainerCommands(): Promise<readonly string[]> {
  const text = await readFile(fileURLToPath(new URL('../../docs/operations/install.md', import.meta.url)), 'utf8');
  const [, section = ''] = /^## In a container\n([\s\S]*?)^## /m.exec(text) ?? [];
  return [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, command = '']) => command);
}
