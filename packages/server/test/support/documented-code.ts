import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';

/**
 * Returns the code block of a document in `docs/` that has this language and contains all of `replaced`, with each of these
 * texts replaced by the one of the test.
 */
export async function readDocumentedCode(
  document: string,
  language: string,
  replaced: Readonly<Record<string, string>>,
): Promise<string> {
  const content = await readFile(new URL(`../../../../docs/${document}`, import.meta.url), 'utf8');
  const blocks = [...content.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'gm'))].map(
    ([, text = '']) => text,
  );
  const isComplete = (text: string) => Object.keys(replaced).every((documented) => text.includes(documented));
  const block = blocks.find(isComplete);
  expect(block, `docs/${document} has a block that contains ${Object.keys(replaced)}`).toBeDefined();
  return Object.entries(replaced).reduce((text, [documented, used]) => text.replaceAll(documented, used), block ?? '');
}
