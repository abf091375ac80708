import { expect, it } from 'vitest';
import { summarizeInstallerOutputLine } from './install-summary.ts';

it('summarizeInstallerOutputLine keeps only the warnings, the errors and the result of uv', () => {
  const output = [
    'Using Python 3.11.2 environment at: env',
    'Resolved 2 packages in 210ms',
    'warning: The package `click` does not have an extra named `x`',
    'Installed 1 package in 3ms',
    ' + itsdangerous==2.2.0',
    'error: Failed to fetch',
  ];
  const kept = output.flatMap((line) => summarizeInstallerOutputLine(line) ?? []);
  expect(kept).toEqual([output[2], output[3], output[5]]);
});
