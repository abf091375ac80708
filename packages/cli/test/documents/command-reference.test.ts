import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { generateCommandReference } from './command-reference.ts';

test('docs/botcli.md matches the table of commands', async () => {
  const file = fileURLToPath(new URL('../../../../docs/botcli.md', import.meta.url));
  await expect(await generateCommandReference()).toMatchFileSnapshot(file);
});
