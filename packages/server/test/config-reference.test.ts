import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { configurationReference } from './config-reference.ts';

test('the configuration in docs is the one that the settings make', async () => {
  const file = fileURLToPath(new URL('../../../docs/configuration.md', import.meta.url));
  await expect(configurationReference()).toMatchFileSnapshot(file);
});
