import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { migrations } from './all.ts';

it('the list of migrations contains every file of the folder, in the order of the file names', () => {
  const files = readdirSync(fileURLToPath(new URL('.', import.meta.url)));
  const numbered = files.filter((name) => /^\d+-[\w-]+(?<!\.test)\.ts$/.test(name)).sort();
  expect(migrations.map(({ name }) => `${name}.ts`)).toEqual(numbered);
});
