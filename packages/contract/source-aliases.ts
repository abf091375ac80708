import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Makes Vite load the sources of packages of this repository instead of their builds. */
export function createSourceAliases(packages: readonly string[]): { find: RegExp; replacement: string }[] {
  return packages.flatMap((name) => {
    const directory = new URL(`../${name}/`, import.meta.url);
    const manifest = JSON.parse(readFileSync(new URL('package.json', directory), 'utf8')) as {
      readonly exports: Readonly<Record<string, { readonly default: string }>>;
    };
    return Object.entries(manifest.exports).map(([entryPoint, { default: built }]) => ({
      find: new RegExp(`^@bothost/${name}${entryPoint.slice(1)}$`),
      replacement: fileURLToPath(new URL(built.replace(/^\.\/dist\/(.*)\.js$/, 'src/$1.ts'), directory)),
    }));
  });
}
