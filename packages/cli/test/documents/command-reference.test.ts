import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { commandReference } from './command-reference.ts';

test('the reference in docs is the one that the table of commands makes', async () => {
  const file = fileURLToPath(new URL('../../../../docs/botcli.md', import.meta.url));
  await expect(await commandReference()).toMatchFileSnapshot(file);
});
