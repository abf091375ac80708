/** The forms in which a module can import another one, as source text. Lint rules must detect all of them. */
export const importStatementTemplates: Readonly<Record<string, (source: string) => string>> = {
  value: (source) => `import { thing } from '${source}';\nthing();\n`,
  type: (source) => `import type { Thing } from '${source}';\nexport const thing: Thing | null = null;\n`,
  export: (source) => `export { thing } from '${source}';\n`,
  dynamic: (source) => `export const thing = await import('${source}');\n`,
};
