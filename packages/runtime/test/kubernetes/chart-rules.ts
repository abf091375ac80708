import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';

export type ChartRule = {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
};

const roles = new URL('../../../../deploy/chart/templates/rbac.yaml', import.meta.url);

/** Returns the rules of the chart for the service: of its Role, and of the ClusterRole with which it reads the usage of bots. */
export async function readChartRules(): Promise<readonly ChartRule[]> {
  const text = await readFile(roles, 'utf8');
  return [...text.matchAll(/^ {2}- (\{ apiGroups: .*\})$/gm)].map(([, rule = '']) => parse(rule) as ChartRule);
}
