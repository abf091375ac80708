import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { generateServiceReference } from './service-reference.ts';

test('docs/services.md matches the catalogue', async () => {
  const file = fileURLToPath(new URL('../../../../docs/services.md', import.meta.url));
  await expect(generateServiceReference()).toMatchFileSnapshot(file);
});
