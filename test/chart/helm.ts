import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { installGoProgram } from '../go-program.ts';

const version = '3.22.0';
/** The version for which charts are rendered without a cluster. */
const kubernetesVersion = '1.34.0';

export const noHelm = inject('uvFolder') === '' ? 'Helm is built with Go from the Python package index' : null;
/** Milliseconds to build Helm on a busy machine. */
export const installHelmTimeoutMs = 15 * 60_000;

export const chart = fileURLToPath(new URL('../../deploy/chart', import.meta.url));

/** An object of Kubernetes, of which tests read any field. */
export type Manifest = {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
};

type Values = Readonly<Record<string, unknown>>;

/** The commands of Helm that need no cluster. All reject with the error output of Helm. */
export type Helm = {
  readonly program: string;
  readonly lint: (values: Values) => Promise<string>;
  /** Returns the objects of the chart for a release of the name `name` in the namespace `bothost`. */
  readonly template: (values: Values, name?: string) => Promise<readonly Manifest[]>;
};

export async function installHelm(): Promise<Helm> {
  const program = await installGoProgram(`helm-${version}`, `helm.sh/helm/v3/cmd/helm@v${version}`);
  const run = async (words: readonly string[], values: Values) => {
    const helm = promisify(execFile)(program, [...words, '--kube-version', kubernetesVersion, '--values', '-']);
    helm.child.stdin?.end(JSON.stringify(values));
    return (await helm).stdout;
  };
  return {
    program,
    lint: (values) => run(['lint', chart, '--strict'], values),
    template: async (values, name = 'bothost') => {
      const documents = parseAllDocuments(await run(['template', name, chart, '--namespace', 'bothost'], values));
      return documents.map((document) => {
        if (document.errors.length > 0) throw document.errors[0];
        return document.toJS() as Manifest;
      });
    },
  };
}
