import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { serviceReference } from './service-reference.ts';

test('the list of services in docs is the one that the catalogue makes', async () => {
  const file = fileURLToPath(new URL('../../../../docs/services.md', import.meta.url));
  await expect(serviceReference()).toMatchFileSnapshot(file);
});
