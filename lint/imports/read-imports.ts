import { posix } from 'node:path';
import { parseSync } from 'vite';

export type Import = {
  /** A path in the repository, or the name of a package or one of its entry points; null if it is computed. */
  readonly target: string | null;
  readonly isPath: boolean;
  readonly isType: boolean;
  readonly isDynamic: boolean;
};

/** Returns everything that a module imports, in any form of import statement. */
export function readImports(path: string, text: string): readonly Import[] {
  const { module, errors } = parseSync(path, text);
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`);
  const resolve = (specifier: string) => {
    const isPath = specifier.startsWith('.');
    // Vite imports the text of a file by the suffix `?raw`.
    const target = specifier.replace(/\?raw$/, '');
    return { target: isPath ? posix.join(posix.dirname(path), target) : target, isPath };
  };
  return [
    ...module.staticImports.map(({ moduleRequest, entries }) => ({
      ...resolve(moduleRequest.value),
      isType: entries.length > 0 && entries.every(({ isType }) => isType),
      isDynamic: false,
    })),
    ...module.staticExports
      .flatMap(({ entries }) => entries)
      .flatMap(({ moduleRequest, isType }) =>
        moduleRequest === null ? [] : [{ ...resolve(moduleRequest.value), isType, isDynamic: false }],
      ),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => {
      const [, , literal] = /^(['"`])([^'"`$]*)\1$/.exec(text.slice(start, end)) ?? [];
      const target = literal === undefined ? { target: null, isPath: false } : resolve(literal);
      return { ...target, isType: false, isDynamic: true };
    }),
  ];
}
