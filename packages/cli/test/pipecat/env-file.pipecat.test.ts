import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseEnvFile } from '@bothost/contract/env-file';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mostVendorsPackageGroup } from './package-groups.ts';
import { preparePipecatEnvironment } from './pipecat-environment.ts';

const environment = await preparePipecatEnvironment(mostVendorsPackageGroup);

const script = `
import io, json, sys
from dotenv import dotenv_values
print(json.dumps([dotenv_values(stream=io.StringIO(text)).get("A") for text in json.load(sys.stdin)]))
`;

const token = fc.constantFrom(
  'x',
  'n',
  'a',
  'v',
  ' ',
  '\t',
  '#',
  ' # c',
  '"',
  "'",
  '\\',
  '\\\\',
  '\\n',
  '\\t',
  '\\a',
  "\\'",
  '\\"',
  '\\$',
  '$',
  '$' + '{B}',
  '$' + '{B:-d}',
  '{',
  '}',
  '=',
  '\u00a0',
  'é',
);
const assignment = fc
  .tuple(
    fc.constantFrom('A=', 'A= ', 'export A=', 'A = '),
    fc.constantFrom('', '"', "'"),
    fc.array(token, { maxLength: 6 }),
  )
  .map(([head, quote, tokens]) => `${head}${quote}${tokens.join('')}${quote}\n`);

test('parseEnvFile warns whenever the installed python-dotenv gives another value (3,000 files)', ({ skip }) => {
  if (environment.kind === 'missing') return skip(environment.reason);
  const texts = ['A=  # comment\n', 'A=#ff0000\n', 'A=b#c\n', ...fc.sample(assignment, { numRuns: 3_000, seed: 28 })];
  const run = spawnSync(join(environment.bin, 'python'), ['-c', script], {
    input: JSON.stringify(texts),
    encoding: 'utf8',
    env: {},
  });
  const real: (string | null)[] = JSON.parse(run.stdout);
  const wrong = texts.flatMap((text, index) => {
    const { pairs, skipped, problems, warnings } = parseEnvFile(text, '.env');
    if (problems.length > 0) return [];
    const stored = pairs[0]?.value ?? (skipped.length > 0 ? '' : null);
    const isWarned = warnings.some(({ message }) => message.includes('python-dotenv'));
    return isWarned || stored === real[index] ? [] : [{ text, stored, real: real[index], isWarned }];
  });
  expect(wrong).toEqual([]);
});
