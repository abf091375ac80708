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
  'AbortSignal.timeout in AbortSignal.any': {
    file: `${server}/sessions/timeout.ts`,
    text: 'export const limit = (other: AbortSignal) => AbortSignal.any([other, AbortSignal.timeout(1)]);\n',
    rule: 'plugin',
    says: /Use createTimeout/,
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
};

let findings: readonly LintFinding[];
beforeAll(() => {
  const files: Record<string, string> = {};
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
});

describe('the lint accepts', () => {
  const rules = ['plugin', 'noProcessEnv', 'noBarrelFile', 'noUndeclaredDependencies'];
  it.each(Object.entries(accepted))('%s', (_, { file }) => {
    expect(findings.filter((finding) => finding.file === file && rules.includes(finding.rule))).toEqual([]);
  });
});
