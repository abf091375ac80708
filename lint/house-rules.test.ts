import { beforeAll, describe, expect, it } from 'vitest';
import { type LintFinding, runLintOnSampleFiles } from './run-lint-on-sample-files.ts';

type Case = { readonly file: string; readonly text: string; readonly rule: string | null; readonly says?: RegExp };

const server = 'packages/server/src';

const refused: Record<string, Case> = {
  'process.exit': {
    file: `${server}/main.ts`,
    text: 'process.exit(1);\n',
    rule: 'plugin',
    says: /set process\.exitCode/,
  },
  'process.env outside config.ts': {
    file: `${server}/sessions/environment.ts`,
    text: "export const home = process.env['HOME'];\n",
    rule: 'noProcessEnv',
  },
  'process.env in a test': {
    file: `${server}/sessions/environment.test.ts`,
    text: "export const home = process.env['HOME'];\n",
    rule: 'noProcessEnv',
  },
  'process.env in a config.ts that is not directly in src/': {
    file: `${server}/sessions/config.ts`,
    text: "export const home = process.env['HOME'];\n",
    rule: 'noProcessEnv',
  },
  'a default export': { file: `${server}/sessions/default.ts`, text: 'export default 1;\n', rule: 'noDefaultExport' },
  'the type any': { file: `${server}/sessions/any.ts`, text: 'export let thing: any;\n', rule: 'noExplicitAny' },
  'a non-null assertion': {
    file: `${server}/sessions/assertion.ts`,
    text: 'export const first = (list: string[]) => list[0]!.length;\n',
    rule: 'noNonNullAssertion',
  },
  'an enum': { file: `${server}/sessions/enum.ts`, text: 'export enum Colour { Red }\n', rule: 'noEnum' },
  'an interface': {
    file: `${server}/sessions/interface.ts`,
    text: 'export interface Thing { readonly name: string }\n',
    rule: 'plugin',
    says: /a type instead of an interface/,
  },
  'a barrel file': {
    file: `${server}/sessions/barrel.ts`,
    text: "export { one } from './one.ts';\nexport { two } from './two.ts';\n",
    rule: 'noBarrelFile',
  },
  'an import without a file name extension': {
    file: `${server}/sessions/ending.ts`,
    text: "import './environment';\n",
    rule: 'useImportExtensions',
  },
  'an import() type': {
    file: `${server}/sessions/import-type.ts`,
    text: "export type Thing = import('../http/route.ts').Thing;\n",
    rule: 'plugin',
    says: /top-level import type/,
  },
  'an undeclared dependency': {
    file: `${server}/sessions/undeclared.ts`,
    text: "import lodash from 'lodash';\nlodash();\n",
    rule: 'noUndeclaredDependencies',
  },
  'a driver that the registry loads statically': {
    file: 'packages/runtime/src/registry.ts',
    text: "import { driver } from './process/driver.ts';\ndriver();\n",
    rule: 'plugin',
    says: /dynamic import/,
  },
  'a static import of a driver in server.ts': {
    file: `${server}/composition/server.ts`,
    text: "import { driver } from '@bothost/runtime/dist/process/driver.js';\ndriver();\n",
    rule: 'plugin',
    says: /by its entry points/,
  },
  'an import of rows.ts in handlers.ts': {
    file: `${server}/handlers.ts`,
    text: "import { row } from './sessions/rows.ts';\nrow();\n",
    rule: 'plugin',
    says: /rows\.ts is private/,
  },
  'an import of http/ in handlers.ts': {
    file: `${server}/handlers.ts`,
    text: "import type { Route } from './http/route.ts';\nexport const route: Route | null = null;\n",
    rule: 'noRestrictedImports',
    says: /handlers\.ts may import neither/,
  },
  'an import of another server file in config.ts': {
    file: `${server}/config.ts`,
    text: "import { open } from './store/database.ts';\nopen();\n",
    rule: 'noRestrictedImports',
    says: /may import only the contract and operator-error\.ts/,
  },
  'an import of another server file in settings.ts': {
    file: `${server}/settings.ts`,
    text: "import { open } from './store/database.ts';\nopen();\n",
    rule: 'noRestrictedImports',
    says: /may import only the contract and operator-error\.ts/,
  },
  'an import of a Node.js module in the contract': {
    file: 'packages/contract/src/node.ts',
    text: "import { readFileSync } from 'node:fs';\nreadFileSync('x');\n",
    rule: 'noRestrictedImports',
    says: /zod and nothing else/,
  },
  'an import of a library other than zod in the contract': {
    file: 'packages/contract/src/library.ts',
    text: "import { v7 } from 'uuid';\nv7();\n",
    rule: 'noRestrictedImports',
    says: /zod and nothing else/,
  },
  'an import of the server in the CLI': {
    file: 'packages/cli/src/command-line/command.ts',
    text: "import { start } from '@bothost/server';\nstart();\n",
    rule: 'plugin',
    says: /no other package of ours/,
  },
  'an import of the runtime in the CLI': {
    file: 'packages/cli/src/runtime.ts',
    text: "import { runtimes } from '@bothost/runtime/registry';\nruntimes;\n",
    rule: 'plugin',
    says: /Only the server imports/,
  },
  'an import of the server in the conformance suite': {
    file: 'packages/runtime/test/conformance/server.ts',
    text: "import { start } from '../../../server/src/server.ts';\nstart();\n",
    rule: 'noRestrictedImports',
    says: /Tests of the runtime import/,
  },
  'an import of the server by path in the dashboard': {
    file: 'packages/dashboard/src/page.ts',
    text: "import { start } from '../../server/src/server.ts';\nstart();\n",
    rule: 'plugin',
    says: /no other package of ours/,
  },
  'an import of the contract in an example': {
    file: 'examples/parrot/src/contract.ts',
    text: "import { apiErrorDefinitions } from '@bothost/contract';\napiErrorDefinitions;\n",
    rule: 'noRestrictedImports',
    says: /depends on the bot contract alone/,
  },
};

const accepted: Record<string, Case> = {
  'process.env in a package’s config.ts': {
    file: 'packages/cli/src/config.ts',
    text: "export const home = process.env['HOME'];\n",
    rule: null,
  },
  'an interface that extends one of a library': {
    file: `${server}/augmentation.ts`,
    text: "declare module 'fastify' { interface FastifyRequest { readonly name: string } }\ndeclare global { interface Window { readonly name: string } }\n",
    rule: null,
  },
  'process.exitCode': { file: `${server}/exit-code.ts`, text: 'process.exitCode = 1;\n', rule: null },
  'the package’s one index': {
    file: 'packages/contract/src/index.ts',
    text: "export { one } from './one.ts';\nexport { two } from './two.ts';\n",
    rule: null,
  },
  'zod in the contract': {
    file: 'packages/contract/src/schema.ts',
    text: "import { z } from 'zod';\nz.string();\n",
    rule: null,
  },
  'the runtime in the server': {
    file: `${server}/agents/runtime.ts`,
    text: "import type { Runtime } from '@bothost/runtime';\nexport const runtime: Runtime | null = null;\n",
    rule: null,
  },
  'the contract in the CLI': {
    file: 'packages/cli/src/client.ts',
    text: "import { createApiClient } from '@bothost/contract';\ncreateApiClient;\n",
    rule: null,
  },
};

const ring: Record<string, string> = {
  [`${server}/agents/first.ts`]: "import { second } from './second.ts';\nexport const first = second;\n",
  [`${server}/agents/second.ts`]: "import { first } from './first.ts';\nexport const second = first;\n",
  [`${server}/agents/one.ts`]: "import type { Two } from './two.ts';\nexport type One = Two;\n",
  [`${server}/agents/two.ts`]: "import type { One } from './one.ts';\nexport type Two = One;\n",
};

let findings: readonly LintFinding[];
beforeAll(() => {
  const files: Record<string, string> = { ...ring };
  for (const { file, text } of [...Object.values(refused), ...Object.values(accepted)]) {
    files[file] = (files[file] ?? '') + text;
  }
  findings = runLintOnSampleFiles(files);
});

describe('the lint refuses', () => {
  it.each(Object.entries(refused))('%s', (_, { file, rule, says }) => {
    const messages = findings.filter((finding) => finding.file === file && finding.rule === rule);
    expect(messages).not.toEqual([]);
    if (says !== undefined) expect(messages.some(({ message }) => says.test(message))).toBe(true);
  });

  it.each(Object.keys(ring))('an import cycle through the file %s', (file) => {
    expect(findings.filter((finding) => finding.file === file).map(({ rule }) => rule)).toContain('noImportCycles');
  });
});

describe('the lint accepts', () => {
  const rules = ['plugin', 'noRestrictedImports', 'noProcessEnv', 'noBarrelFile', 'noUndeclaredDependencies'];
  it.each(Object.entries(accepted))('%s', (_, { file }) => {
    expect(findings.filter((finding) => finding.file === file && rules.includes(finding.rule))).toEqual([]);
  });
});
