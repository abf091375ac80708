import { expect, it } from 'vitest';
import { summarizeInstallerOutputLine } from './install-summary.ts';

const linesOfPip = `Collecting itsdangerous==2.2.0 (from -r requirements.txt (line 1))
  Downloading itsdangerous-2.2.0-py3-none-any.whl.metadata (1.9 kB)
Requirement already satisfied: blinker in ./env/lib/python3.11/site-packages
DEPRECATION: old is being installed using the legacy 'setup.py install' method
Installing collected packages: itsdangerous, click
  WARNING: Retrying (Retry(total=4)) after connection broken
ERROR: pip's dependency resolver does not currently take into account all the packages that are installed.
Successfully installed click-8.1.7 itsdangerous-2.2.0`;

const linesOfUv = `Using Python 3.11.2 environment at: env
Resolved 2 packages in 210ms
warning: The package \`click\` does not have an extra named \`x\`
Installed 1 package in 3ms
 + itsdangerous==2.2.0`;

it.each([
  ['pip', linesOfPip, ['DEPRECATION', '  WARNING: Retrying', 'ERROR: ', 'Installed 2 packages']],
  ['uv', linesOfUv, ['warning: The package', 'Installed 1 package in']],
])(
  'summarizeInstallerOutputLine keeps only the warnings, the errors and the result of the installer %s',
  (_, output, expected) => {
    const shown = output.split('\n').flatMap((line) => summarizeInstallerOutputLine(line) ?? []);
    expect(shown).toEqual(expected.map((beginning) => expect.stringMatching(new RegExp(`^${beginning}`))));
  },
);
